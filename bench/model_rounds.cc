// One model that runs when it is told to, for bench/compare: the other side does the same, and the
// two take turns on the machine.
//
//   model_rounds MODEL BATCH THREADS f32|int8 MERGE
//
// Prints a line of the first image's logits, then reads lines: for each one batch runs, and its
// milliseconds are printed. The end of the input is the end.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "bench/interleaved.h"
#include "bench/model_batch.h"
#include "vit/base/error.h"
#include "vit/model/load.h"

namespace vit::bench {
namespace {

int serve(char** arguments) {
  const auto number = [&](int i) { return std::strtoul(arguments[i], nullptr, 10); };
  const bool int8 = std::string(arguments[4]) == "int8";
  const Model model = load_model(weights::open(arguments[1]),
                                 {.precision = int8 ? Precision::kInt8 : Precision::kF32});
  ModelBatch batch(model, number(2), number(3), number(5));
  batch.run_once();
  for (const float logit : batch.first()) std::printf("%.9g ", static_cast<double>(logit));
  std::printf("\n");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    std::printf("%.3f\n", 1000.0 * seconds([&] { batch.run_once(); }));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace vit::bench

int main(int count, char** arguments) {
  if (count != 6) {
    std::fprintf(stderr, "usage: model_rounds MODEL BATCH THREADS f32|int8 MERGE\n");
    return 2;
  }
  try {
    return vit::bench::serve(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "model_rounds: %s\n", error.what());
    return 1;
  }
}
