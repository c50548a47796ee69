#include "bench/fma_peak.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "vit/kernels/cpu.h"

namespace vit::bench {
namespace {

constexpr int kChains = 12;  // enough to hide the latency of two units
constexpr int kSteps = 20000;

#include "vit/kernels/target/avx2.inl"
double flops_avx2() {
  typedef float Vec __attribute__((vector_size(32)));
  Vec acc[kChains] = {};
  Vec a = Vec{} + 1.0001f, b = Vec{} + 0.5f;
  benchmark::DoNotOptimize(a);
  benchmark::DoNotOptimize(b);
  for (int step = 0; step < kSteps; ++step)
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) acc[i] = acc[i] * a + b;
  for (Vec& v : acc) benchmark::DoNotOptimize(v);
  return 2.0 * 8 * kChains * kSteps;
}
#include "vit/kernels/target/end.inl"

#include "vit/kernels/target/avx512.inl"
double flops_avx512() {
  typedef float Vec __attribute__((vector_size(64)));
  Vec acc[kChains] = {};
  Vec a = Vec{} + 1.0001f, b = Vec{} + 0.5f;
  benchmark::DoNotOptimize(a);
  benchmark::DoNotOptimize(b);
  for (int step = 0; step < kSteps; ++step)
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) acc[i] = acc[i] * a + b;
  for (Vec& v : acc) benchmark::DoNotOptimize(v);
  return 2.0 * 16 * kChains * kSteps;
}
#include "vit/kernels/target/end.inl"

}  // namespace

double fma_peak() {
  const auto run = available_isas().back() == Isa::kAvx512 ? flops_avx512 : flops_avx2;
  double best = 0.0;
  for (int round = 0; round < 20; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const double flops = run();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::max(best, flops / seconds.count());
  }
  return best;
}

}  // namespace vit::bench
