// Counts what the C library hands out, so it stands in a program of its own.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "tests/encoder/random_encoder.h"

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kCounting = false;  // the sanitizer has its own allocator
#else
constexpr bool kCounting = true;
namespace {
std::atomic<size_t> allocations = 0;
}
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** place, size_t alignment, size_t size) {
  ++allocations;
  *place = __libc_memalign(alignment, size);
  return *place == nullptr ? ENOMEM : 0;
}
}
#endif

namespace vit {
namespace {

TEST(Allocation, NoneHappensPerSequenceOnceTheWorkspaceIsWarm) {
  if (!kCounting) GTEST_SKIP() << "cannot count under a sanitizer";
#if !defined(__SANITIZE_ADDRESS__)
  const size_t at_first = allocations;
  const Matrix seen(1, 1);
  EXPECT_GT(allocations, at_first) << "is a matrix counted?";
  const Encoder encoder = test::random_encoder(2);
  ThreadPool pool(2);
  for (ThreadPool* workers : {static_cast<ThreadPool*>(nullptr), &pool}) {
    Matrix tokens = test::random_matrix(20, test::kEncoderWidth, 5);
    Workspace workspace(workspace_shape(encoder, 20));
    const Resources resources{workspace, {.pool = workers}};
    encode(encoder, tokens, resources);
    const size_t before = allocations;
    for (size_t needed = 0; needed < 5; ++needed)
      encode(encoder, tokens, resources, nullptr, {.needed_tokens = needed});
    EXPECT_EQ(allocations, before);
  }
#endif
}

}  // namespace
}  // namespace vit
