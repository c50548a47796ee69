// Chains of fused multiply-adds. fma_peak.cc includes this file once per instruction set, inside a
// namespace and a target region of its own. The namespace defines kBytes, the size of a vector.

/// Runs the chains once and returns the number of operations.
double run_chains() {
  typedef float Vec __attribute__((vector_size(kBytes)));
  Vec acc[kChains] = {};
  Vec a = Vec{} + 1.0001f, b = Vec{} + 0.5f;
  benchmark::DoNotOptimize(a);
  benchmark::DoNotOptimize(b);
  for (int step = 0; step < kSteps; ++step)
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) acc[i] = acc[i] * a + b;
  for (Vec& v : acc) benchmark::DoNotOptimize(v);
  return 2.0 * (kBytes / sizeof(float)) * kChains * kSteps;
}
