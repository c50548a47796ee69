// Kernels at the shapes of real layers, as a share of what the core can do.
#include <benchmark/benchmark.h>

#include <cmath>

#include "bench/fma_peak.h"
#include "bench/interleaved.h"
#include "tests/support/random.h"
#include "vit/kernels/attention_kernel.h"
#include "vit/kernels/gemm.h"
#include "vit/kernels/int8_linear.h"
#include "vit/kernels/isa_kernels.h"
#include "vit/kernels/linear.h"

namespace vit::bench {
namespace {

Linear random_linear(size_t out, size_t in, const Matrix& weights) {
  return pack_linear(
      out, in,
      [&](size_t first, size_t count, float* rows) {
        std::copy_n(weights.view().row(first), count * in, rows);
      },
      test::random_vector(out, 3), active_isa());
}

/// Rows as far apart as those of a model's activations.
class Activations {
 public:
  Activations(size_t rows, size_t cols)
      : numbers_(test::random_matrix(rows, row_stride(cols), 2)),
        view_(numbers_.data(), rows, cols, row_stride(cols)) {}
  operator MatrixView() const { return view_; }
  operator ConstMatrixView() const { return view_; }

 private:
  Matrix numbers_;
  MatrixView view_;
};

/// args: rows, in, out. Against OpenBLAS's product alone.
void linear_layer(benchmark::State& state, Activation activation) {
  const auto rows = static_cast<size_t>(state.range(0)), in = static_cast<size_t>(state.range(1)),
             out = static_cast<size_t>(state.range(2));
  const Matrix weights = test::random_matrix(out, in, 1);
  const Activations x(rows, in), y(rows, out);
  const Linear linear = random_linear(out, in, weights);
  interleave(
      state,
      [&] {
        apply(linear, x, y, {nullptr, linear.isa}, {.activation = activation});
      },
      [&] { gemm(x, weights, y, {.b = Transpose::kYes}); });
  const double flops = 2.0 * static_cast<double>(rows * in * out);
  const double ours = flops / (state.counters["ours_ms"].value * 1e-3);
  state.counters["GFLOP/s"] = ours * 1e-9;
  state.counters["of_peak"] = ours / fma_peak();
}

void layer_shapes(benchmark::internal::Benchmark* b) {
  for (const std::int64_t width : {192, 384, 768, 1024}) {
    b->Args({197, width, 3 * width});
    b->Args({197, width, width});
    b->Args({197, width, 4 * width});
    b->Args({197, 4 * width, width});
  }
}
BENCHMARK_CAPTURE(linear_layer, plain, Activation::kNone)->Apply(layer_shapes);
BENCHMARK_CAPTURE(linear_layer, gelu, Activation::kGelu)->Args({197, 768, 3072});

/// args: rows, in, out. The layer in 8 bits against the same in float.
void int8_layer(benchmark::State& state) {
  const auto rows = static_cast<size_t>(state.range(0)), in = static_cast<size_t>(state.range(1)),
             out = static_cast<size_t>(state.range(2));
  const Matrix weights = test::random_matrix(out, in, 1);
  const Activations x(rows, in), y(rows, out);
  const Linear exact = random_linear(out, in, weights);
  const Linear rough = pack_int8_linear(
      out, in,
      quantizing(in, [&](size_t first, size_t count,
                         float* to) { std::copy_n(weights.view().row(first), count * in, to); }),
      test::random_vector(out, 3), active_isa());
  interleave(
      state,
      [&] {
        apply(rough, x, y, {nullptr, rough.isa});
      },
      [&] {
        apply(exact, x, y, {nullptr, exact.isa});
      });
  state.counters["GMAC/s"] =
      static_cast<double>(rows * in * out) / (state.counters["ours_ms"].value * 1e6);
}
BENCHMARK(int8_layer)->Apply(layer_shapes);

/// args: tokens, heads. Head width 64.
void attention_layer(benchmark::State& state) {
  const auto tokens = static_cast<size_t>(state.range(0)),
             heads = static_cast<size_t>(state.range(1)), d = size_t{64};
  const Matrix qkv = test::random_matrix(tokens, 3 * heads * d, 1);
  const ConstMatrixView view = qkv;
  const AttentionCall call{.queries = view.col_range(0, heads * d),
                           .keys = view.col_range(heads * d, heads * d),
                           .values = view.col_range(2 * heads * d, heads * d),
                           .heads = heads,
                           .key_heads = heads,
                           .value_heads = heads,
                           .scale = 0.125f,
                           .isa = active_isa()};
  Matrix output(tokens, heads * d);
  AttentionScratch scratch;
  double best = 1e9;
  for (auto _ : state) best = std::min(best, seconds([&] { attention(call, output, scratch); }));
  const double flops = 4.0 * static_cast<double>(tokens * tokens * heads * d);
  state.counters["best_ms"] = best * 1e3;
  state.counters["GFLOP/s"] = flops / best * 1e-9;
  state.counters["of_peak"] = flops / best / fma_peak();
}
BENCHMARK(attention_layer)->Args({197, 3})->Args({197, 12})->Args({577, 12})->Args({1370, 12});

/// args: tokens, width.
void layer_norm_tokens(benchmark::State& state, Isa isa) {
  const auto tokens = static_cast<size_t>(state.range(0)),
             width = static_cast<size_t>(state.range(1));
  const Matrix x = test::random_matrix(tokens, width, 1);
  const std::vector<float> gamma(width, 1.0f), beta(width);
  Matrix y(tokens, width);
  const IsaKernels& kernels = isa_kernels(isa);
  for (auto _ : state) {
    for (size_t t = 0; t < tokens; ++t)
      kernels.layer_norm_row(x.view().row(t), gamma.data(), beta.data(), 1e-6f, y.view().row(t),
                             width);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(static_cast<size_t>(state.iterations()) * 2 *
                                                    x.size() * sizeof(float)));
}

void activation_tokens(benchmark::State& state, Isa isa, Activation activation) {
  const std::vector<float> x = test::random_vector(197 * 3072, 1);
  std::vector<float> y(x.size());
  for (auto _ : state) {
    isa_kernels(isa).activation_row(activation, x.data(), y.data(), x.size());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(
      static_cast<std::int64_t>(static_cast<size_t>(state.iterations()) * x.size()));
}

const int registered = [] {
  for (const Isa isa : available_isas()) {
    const std::string suffix = "/" + std::string(to_string(isa));
    benchmark::RegisterBenchmark(("layer_norm" + suffix).c_str(), layer_norm_tokens, isa)
        ->Args({197, 192})
        ->Args({197, 768});
    benchmark::RegisterBenchmark(("gelu" + suffix).c_str(), activation_tokens, isa,
                                 Activation::kGelu);
    benchmark::RegisterBenchmark(("silu" + suffix).c_str(), activation_tokens, isa,
                                 Activation::kSilu);
  }
  return 0;
}();

}  // namespace
}  // namespace vit::bench
