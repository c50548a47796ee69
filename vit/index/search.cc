#include "vit/index/search.h"

#include <algorithm>
#include <cassert>

#include "vit/kernels/dots.h"

namespace vit::index {
namespace {

/// A worker takes this much at a time; of it, this much stays in the second-level cache while all
/// queries pass by.
constexpr size_t kPieceBytes = size_t{4} << 20, kChunkBytes = size_t{1} << 17;

struct Piece {
  const Block* block = nullptr;
  size_t first = 0;  ///< within the block
  size_t rows = 0;
};

std::vector<Piece> pieces_of(const Vectors& vectors) {
  const size_t most = std::max<size_t>(1, kPieceBytes / std::max<size_t>(1, vectors.row_bytes()));
  std::vector<Piece> pieces;
  for (const Block& block : vectors.blocks)
    for (size_t first = 0; first < block.rows; first += most)
      pieces.push_back({&block, first, std::min(most, block.rows - first)});
  return pieces;
}

/// The products of `rows` rows at `numbers` with one query.
void dots_of(const Vectors& vectors, const std::byte* numbers, std::span<const float> query,
             std::span<float> dots, Isa isa) {
  if (vectors.type == NumberType::kF32)
    dot_rows(ConstMatrixView(reinterpret_cast<const float*>(numbers), dots.size(), vectors.width),
             query, dots, isa);
  else
    dot_rows(
        ConstHalfView(reinterpret_cast<const std::uint16_t*>(numbers), dots.size(), vectors.width),
        query, dots, isa);
}

/// Whether `a` comes before `b` among the hits of a query.
bool better(const Hit& a, const Hit& b) {
  return a.score != b.score ? a.score > b.score : a.row < b.row;
}

/// The best `k` so far; the worst of them is on top of the heap.
struct Best {
  std::vector<Hit> heap;

  void add(const Hit& hit, size_t k) {
    if (heap.size() == k) {
      if (!better(hit, heap.front())) return;
      std::ranges::pop_heap(heap, better);
      heap.back() = hit;
    } else {
      heap.push_back(hit);
    }
    std::ranges::push_heap(heap, better);
  }
};

}  // namespace

void score_rows(const Vectors& vectors, ConstMatrixView queries, const TakeScores& take,
                const Execution& execution) {
  assert(queries.cols == vectors.width);
  const std::vector<Piece> pieces = pieces_of(vectors);
  const size_t row_bytes = vectors.row_bytes();
  const size_t chunk = std::max<size_t>(1, kChunkBytes / std::max<size_t>(1, row_bytes));
  parallel_for(execution.pool, pieces.size(), [&](size_t index, size_t worker) {
    const Piece& piece = pieces[index];
    Matrix scores(queries.rows, std::min(chunk, piece.rows));
    for (size_t first = 0; first < piece.rows; first += chunk) {
      const MatrixView some = scores.view().col_range(0, std::min(chunk, piece.rows - first));
      const std::byte* numbers = piece.block->numbers + (piece.first + first) * row_bytes;
      for (size_t q = 0; q < queries.rows; ++q)
        dots_of(vectors, numbers, queries.row_span(q), some.row_span(q), execution.isa);
      take(worker, piece.block->first + piece.first + first, some);
    }
  });
}

std::vector<std::vector<Hit>> search(const Vectors& vectors, ConstMatrixView queries, size_t k,
                                     const Execution& execution) {
  const size_t workers = execution.pool == nullptr ? 1 : execution.pool->size();
  k = std::min(k, vectors.rows);
  std::vector<std::vector<Best>> bests(workers, std::vector<Best>(queries.rows));
  const auto take = [&](size_t worker, size_t first, ConstMatrixView scores) {
    for (size_t q = 0; q < scores.rows; ++q) {
      Best& best = bests[worker][q];
      for (size_t i = 0; i < scores.cols; ++i) {
        const float score = scores(q, i);
        if (best.heap.size() == k && !(score >= best.heap.front().score)) continue;
        if (score == score && vectors.is_live(first + i)) best.add({first + i, score}, k);
      }
    }
  };
  if (k != 0) score_rows(vectors, queries, take, execution);
  std::vector<std::vector<Hit>> hits(queries.rows);
  for (size_t q = 0; q < queries.rows; ++q) {
    for (const auto& best : bests)
      hits[q].insert(hits[q].end(), best[q].heap.begin(), best[q].heap.end());
    std::ranges::sort(hits[q], better);
    hits[q].resize(std::min(hits[q].size(), k));
  }
  return hits;
}

}  // namespace vit::index
