/// The image of a file in memory, or why it is refused.
#pragma once

#include <span>
#include <string>

#include "patch/image/image.h"
#include "tests/patch/image_files.h"
#include "tests/support/message_of.h"

namespace vit::patch::test {

inline Image decoded(const Bytes& bytes, const DecodeOptions& options = {}) {
  return decode(std::as_bytes(std::span(bytes)), "test", options);
}

/// "no error" if there is none.
inline std::string message(const Bytes& bytes, const DecodeOptions& options = {}) {
  return vit::test::message_of([&] { decoded(bytes, options); });
}

}  // namespace vit::patch::test
