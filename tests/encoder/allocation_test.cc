#include "tests/support/allocations.h"

#include <gtest/gtest.h>

#include "tests/encoder/random_encoder.h"
#include "tests/support/execution.h"

namespace vit {
namespace {

using test::allocations;

TEST(Allocation, NoneHappensPerSequenceOnceTheWorkspaceIsWarm) {
  if (!test::counts_allocations()) GTEST_SKIP() << "cannot count under a sanitizer";
  const size_t at_first = allocations();
  const Matrix seen(1, 1);
  EXPECT_GT(allocations(), at_first) << "is a matrix counted?";
  const Encoder encoder = test::random_encoder(2);
  ThreadPool pool(2);
  for (ThreadPool* workers : {static_cast<ThreadPool*>(nullptr), &pool}) {
    Matrix tokens = test::random_matrix(20, test::kEncoderWidth, 5);
    Workspace workspace(workspace_shape(encoder, 20));
    const Resources resources{workspace, test::best_execution(workers)};
    encode(encoder, tokens, resources);
    const size_t before = allocations();
    for (size_t needed = 0; needed < 5; ++needed)
      encode(encoder, tokens, resources, nullptr, {.needed_tokens = needed});
    EXPECT_EQ(allocations(), before);
  }
}

}  // namespace
}  // namespace vit
