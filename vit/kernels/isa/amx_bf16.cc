#include <utility>

#include "vit/base/owners.h"
#include "vit/kernels/isa/tables.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace vit::isa {

#include "vit/kernels/target/amx_bf16.inl"
namespace {
#include "vit/kernels/isa/bf16_parts.inl"

#include "vit/kernels/bf16_amx.inl"

#include "vit/kernels/bf16.inl"
}  // namespace
#include "vit/kernels/target/end.inl"

void amx_multiply_bf16(const MultiplyCall& call) {
  multiply_bf16(call);
}

}  // namespace vit::isa
#endif
