// One program per target (VIT_FUZZ_TARGET), run by libFuzzer.
#include <cstdint>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const vit::fuzz::Target& target = vit::fuzz::target(VIT_FUZZ_TARGET);
  target.parse(std::as_bytes(std::span(data, size)));
  return 0;
}
