/// One answer, however it is computed.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "vit/base/thread_pool.h"
#include "vit/model/model.h"
#include "vit/model/runner.h"

namespace vit::test {

/// Of a prepared runner: the same bits with and without taps, and with several workers.
inline void expect_same_answer(Runner& runner) {
  ModelTaps taps;
  taps.encoder.attention = [](size_t, ConstMatrixView) {};
  const auto copied = [](std::span<const float> output) {
    return std::vector<float>(output.begin(), output.end());
  };
  const auto tapped = copied(runner.logits(&taps)), untapped = copied(runner.logits());
  ThreadPool pool(3);
  runner.set_pool(&pool);
  EXPECT_EQ(tapped, untapped);
  EXPECT_EQ(tapped, copied(runner.logits()));
}

}  // namespace vit::test
