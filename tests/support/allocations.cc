#include "tests/support/allocations.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "tests/support/sanitizer.h"

namespace {

std::atomic<size_t> counted = 0;

}  // namespace

#if !VIT_ADDRESS_SANITIZER
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void* malloc(size_t size) {
  ++counted;
  return __libc_malloc(size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  ++counted;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** place, size_t alignment, size_t size) {
  ++counted;
  *place = __libc_memalign(alignment, size);
  return *place == nullptr ? ENOMEM : 0;
}
}
#endif

namespace vit::test {

bool counts_allocations() {
  return !kAddressSanitizer;
}

size_t allocations() {
  return counted;
}

}  // namespace vit::test
