// The module behind decoders(). Nothing of the library is linked into it but headers.
#include <exception>
#include <new>

#include "patch/image/codecs.h"
#include "patch/image/codecs/library_decoders.h"

namespace vit::patch {
namespace {

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

}  // namespace
}  // namespace vit::patch

extern "C" {
__attribute__((visibility("default"))) extern const vit::patch::Decoders vit_decoders;
const vit::patch::Decoders vit_decoders{vit::patch::without_exceptions<vit::patch::decode_tiff>,
                                        vit::patch::without_exceptions<vit::patch::decode_webp>};
}
