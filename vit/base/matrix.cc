#include "vit/base/matrix.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <new>

#include "vit/base/round.h"

namespace vit {

Matrix::Buffer Matrix::allocate(size_t count) {
  if (count == 0) return {};
  constexpr size_t kHugePage = 2 << 20;
  const size_t alignment = count * sizeof(float) < kHugePage ? kAlignment : kHugePage;
  const size_t bytes = round_up(count * sizeof(float), kAlignment);
  void* p = nullptr;
  if (posix_memalign(&p, alignment, bytes) != 0) throw std::bad_alloc();
#if defined(__linux__)
  // Weights are read from end to end for every image; huge pages reduce TLB misses. This is only an
  // optimisation, so a failure is ignored.
  if (alignment == kHugePage) madvise(p, bytes, MADV_HUGEPAGE);
#endif
  auto* numbers = static_cast<float*>(p);
  std::fill_n(numbers, count, 0.0f);
  return Buffer(numbers);
}

Matrix copy_of(ConstMatrixView from) {
  Matrix to(from.rows, from.cols);
  for (size_t r = 0; r < from.rows; ++r) std::copy_n(from.row(r), from.cols, to.view().row(r));
  return to;
}

}  // namespace vit
