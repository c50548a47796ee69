// What the files of products in 16 bits share, before one of the files bf16_*.inl: vectors of
// AVX-512.

constexpr Isa kIsa = Isa::kAvx512;
constexpr size_t kLanes = 16;

#include "vit/kernels/vector.inl"

#include "vit/kernels/transpose.inl"
