// Whole models with random weights: time per batch, and what OpenBLAS alone needs for the products.
#include <benchmark/benchmark.h>

#include <map>

#include "bench/fma_peak.h"
#include "bench/interleaved.h"
#include "bench/model_batch.h"
#include "tests/support/random.h"
#include "tests/support/random_checkpoint.h"
#include "vit/kernels/gemm.h"
#include "vit/model/load.h"
#include "weights/cost.h"
#include "weights/known/architectures.h"

namespace vit::bench {
namespace {

const Model& model_of(const std::string& architecture) {
  static std::map<std::string, Model> models;
  const auto found = models.find(architecture);
  if (found != models.end()) return found->second;
  return models
      .emplace(architecture, load_model(test::random_checkpoint(weights::config_of(architecture))))
      .first->second;
}

/// Every matrix product of one image, nothing else, through OpenBLAS on strided views.
class Products {
 public:
  explicit Products(const ModelConfig& c)
      : c_(c),
        patches_(c.embedding.grid().count(), c.embedding.patch_size()),
        tokens_(c.embedding.tokens(), c.encoder.width),
        qkv_(c.embedding.tokens(), 3 * c.encoder.width),
        hidden_(c.embedding.tokens(), c.encoder.mlp_width),
        scores_(c.embedding.tokens(), c.embedding.tokens()),
        weights_(test::random_matrix(
            1,
            std::max({3 * c.encoder.width * c.encoder.width, c.encoder.mlp_width * c.encoder.width,
                      c.embedding.patch_size() * c.encoder.width,
                      c.head.classes * c.encoder.width}),
            1)) {}

  void operator()() {
    const size_t d = c_.encoder.width, head = c_.encoder.head_width();
    gemm(patches_, weight(d, c_.embedding.patch_size()),
         tokens_.view().row_range(0, patches_.rows()), {.b = Transpose::kYes});
    for (size_t layer = 0; layer < c_.encoder.depth; ++layer) {
      gemm(tokens_, weight(3 * d, d), qkv_, {.b = Transpose::kYes});
      for (size_t h = 0; h < c_.encoder.heads; ++h) {
        gemm(qkv_.view().col_range(h * head, head), qkv_.view().col_range(d + h * head, head),
             scores_, {.b = Transpose::kYes});
        gemm(scores_, qkv_.view().col_range(2 * d + h * head, head),
             tokens_.view().col_range(h * head, head));
      }
      gemm(qkv_.view().col_range(0, d), weight(d, d), tokens_, {.b = Transpose::kYes});
      gemm(tokens_, weight(c_.encoder.mlp_width, d), hidden_, {.b = Transpose::kYes});
      gemm(hidden_, weight(d, c_.encoder.mlp_width), tokens_, {.b = Transpose::kYes});
    }
    gemm(tokens_.view().row_range(0, 1), weight(c_.head.classes, d),
         {hidden_.data(), 1, c_.head.classes}, {.b = Transpose::kYes});
  }

 private:
  ConstMatrixView weight(size_t out, size_t in) const { return {weights_.data(), out, in}; }

  ModelConfig c_;
  Matrix patches_, tokens_, qkv_, hidden_, scores_, weights_;
};

/// of_peak counts all that the model's definition asks for, also what the last layer leaves out.
void forward(benchmark::State& state, const std::string& architecture, size_t images,
             size_t threads) {
  const Model& model = model_of(architecture);
  ModelBatch batch(model, images, threads);
  Products products(model.config);
  interleave(
      state, [&] { batch.run_once(); },
      [&] {
        for (size_t i = 0; i < images; ++i) products();
      });
  const double ms = state.counters["ours_ms"].value;
  const double flops =
      2.0 * static_cast<double>(weights::multiply_adds(model.config)) * static_cast<double>(images);
  state.counters["of_peak"] = flops / (ms * 1e-3) / fma_peak() / static_cast<double>(threads);
  state.counters["ms_per_image"] = ms / static_cast<double>(images);
}

void add(const std::string& size, size_t images, size_t threads) {
  const std::string architecture = "vit_" + size + "_patch16_224";
  const std::string name = "forward/" + architecture + "/images:" + std::to_string(images) +
                           "/threads:" + std::to_string(threads);
  benchmark::RegisterBenchmark(name.c_str(), forward, architecture, images, threads)
      ->Unit(benchmark::kMillisecond)
      ->MinTime(2.0);
}

const int registered = [] {
  for (const char* size : {"tiny", "small", "base", "large"})
    for (const size_t images : {1, 8, 32}) {
      add(size, images, 1);
      if (available_threads() > 1) add(size, images, available_threads());
    }
  return 0;
}();

}  // namespace
}  // namespace vit::bench
