#include "vit/gradient/low_rank.h"

#include <algorithm>
#include <cassert>

#include "vit/base/matrix.h"
#include "vit/kernels/multiply.h"

namespace vit::gradient {

namespace {

template <typename T>
void merge_slot(const LowRankSlot& slot, std::span<const T> learned, std::span<const T> frozen,
                std::span<T> merged) {
  const T* a = learned.data() + slot.offset;
  T* to = merged.data() + slot.full.offset;
  if (slot.rank == 0) {
    std::copy_n(a, slot.full.size(), to);
    return;
  }
  std::copy_n(frozen.data() + slot.full.offset, slot.full.size(), to);
  const T* b = learned.data() + slot.b_offset();
  for (size_t r = 0; r < slot.full.rows; ++r)
    for (size_t k = 0; k < slot.rank; ++k) {
      const T factor = static_cast<T>(LowRankLayout::kScale) * b[r * slot.rank + k];
      const T* from = a + k * slot.full.cols;
      T* row = to + r * slot.full.cols;
      for (size_t c = 0; c < slot.full.cols; ++c) row[c] += factor * from[c];
    }
}

}  // namespace

LowRankLayout::LowRankLayout(const Layout& layout, size_t rank) {
  using weights::TensorPart;
  for (const Slot& slot : layout.slots()) {
    const bool classifier = slot.spec.part == TensorPart::kClassifier;
    // Of the tokens; not those that mix heads or make biases of places.
    const bool matrix = slot.spec.layer && slot.spec.role == weights::TensorRole::kKernel &&
                        slot.spec.input == weights::KernelInput::kTokens;
    if (!classifier && !matrix) continue;
    // More than the matrix has would be a waste.
    const size_t own = classifier ? 0 : std::min({rank, slot.rows, slot.cols});
    slots_.push_back({.full = slot, .offset = size_, .rank = own});
    size_ += slots_.back().size();
  }
}

const LowRankSlot* LowRankLayout::find(std::string_view name) const {
  const auto found = std::ranges::find(
      slots_, name, [](const LowRankSlot& slot) { return std::string_view(slot.full.name()); });
  return found == slots_.end() ? nullptr : &*found;
}

template <typename T>
void merge_low_rank(const LowRankLayout& layout, std::span<const T> learned,
                    std::span<const T> frozen, std::span<T> merged, ThreadPool* pool) {
  assert(learned.size() == layout.size() && frozen.size() == merged.size());
  parallel_for(pool, layout.slots().size(), [&](size_t i, size_t) {
    merge_slot<T>(layout.slots()[i], learned, frozen, merged);
  });
}

template void merge_low_rank(const LowRankLayout&, std::span<const float>, std::span<const float>,
                             std::span<float>, ThreadPool*);
template void merge_low_rank(const LowRankLayout&, std::span<const double>, std::span<const double>,
                             std::span<double>, ThreadPool*);

}  // namespace vit::gradient
