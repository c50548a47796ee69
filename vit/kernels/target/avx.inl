// Begins a target region for AVX without AVX2 and fused multiply-add. See vit/kernels/README.md;
// end.inl ends it.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx")
#endif
