#include <utility>

#include "vit/base/owners.h"
#include "vit/kernels/isa/tables.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace vit::isa {

#include "vit/kernels/target/avx512_vnni.inl"
namespace {
constexpr Isa kIsa = Isa::kAvx512;
constexpr size_t kLanes = 16, kTileRows = 12;
#include "vit/kernels/isa/vnni_parts.inl"
}  // namespace
#include "vit/kernels/target/end.inl"

void avx512_vnni_int8_linear(const Int8Tile& tile) {
  int8_linear(tile);
}

}  // namespace vit::isa
#endif
