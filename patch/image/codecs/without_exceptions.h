/// Decoders at the border of a module, which no exception crosses.
#pragma once

#include <exception>
#include <new>

#include "patch/image/codecs.h"

namespace vit::patch {

template <std::string (*decode)(std::span<const std::byte>, Image&)>
DecodeProblem without_exceptions(std::span<const std::byte> bytes, Image& image) {
  try {
    return {.text = decode(bytes, image)};
  } catch (const std::bad_alloc&) {
    return {.out_of_memory = true};
  } catch (const std::exception& error) {
    return {.text = error.what()};
  }
}

}  // namespace vit::patch
