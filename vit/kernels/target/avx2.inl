// Begins a target region for AVX2 with fused multiply-add and 16-bit floats. See
// vit/kernels/README.md; end.inl ends it.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif
