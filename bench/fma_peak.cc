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
namespace avx2 {
constexpr int kBytes = 32;
#include "bench/fma_chains.inl"
}  // namespace avx2
#include "vit/kernels/target/end.inl"

#include "vit/kernels/target/avx512.inl"
namespace avx512 {
constexpr int kBytes = 64;
#include "bench/fma_chains.inl"
}  // namespace avx512
#include "vit/kernels/target/end.inl"

}  // namespace

double fma_peak() {
  const auto run = available_isas().back() == Isa::kAvx512 ? avx512::run_chains : avx2::run_chains;
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
