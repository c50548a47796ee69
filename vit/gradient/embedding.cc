#include "vit/gradient/embedding.h"

namespace vit::gradient {
namespace {

/// The row of the position table that token `index` of an image has, or none.
template <typename T>
struct Positions {
  const EmbeddingPart<T>& part;
  const EmbeddingActivations<T>& kept;
  size_t covered;  ///< rows of the table for prefix tokens

  Positions(const EmbeddingPart<T>& p, const EmbeddingActivations<T>& k)
      : part(p), kept(k), covered(0) {
    if (!p.positions.empty()) covered = p.positions.value.rows - p.patches;
  }
  bool has(size_t index) const {
    return !part.positions.empty() && (index >= part.prefix.size() || index < covered);
  }
  size_t row(size_t image, size_t index) const {
    const size_t prefix = part.prefix.size(), each = kept.patches.rows / kept.images;
    if (index < prefix) return index;
    const size_t patch = index - prefix;
    return covered + (kept.kept_patches.empty() ? patch : kept.kept_patches[image * each + patch]);
  }
};

}  // namespace

template <typename T>
void embed(const EmbeddingPart<T>& part, EmbeddingActivations<T>& kept, View<T> tokens) {
  kept.projected.resize(kept.patches.rows, tokens.cols);
  linear<T>(part.project, kept.patches, kept.projected);
  const bool normed = !part.norm.weight.empty();
  if (normed) {
    kept.normed.resize(kept.patches.rows, tokens.cols);
    normalize<T>(part.norm, kept.projected, kept.normed);
  }
  const ConstView<T> projected = normed ? kept.normed : kept.projected;
  const size_t each = tokens.rows / kept.images, prefix = part.prefix.size();
  const Positions<T> positions(part, kept);
  for (size_t r = 0; r < tokens.rows; ++r) {
    const size_t image = r / each, index = r % each;
    const View<T> token = tokens.row_range(r, 1);
    copy<T>(index < prefix ? part.prefix[index].value
                           : projected.row_range(image * (each - prefix) + index - prefix, 1),
            token);
    if (positions.has(index))
      add<T>(part.positions.value.row_range(positions.row(image, index), 1), token,
             part.project.isa);
  }
  if (part.pre_norm.weight.empty()) return;
  keep<T>(tokens, kept.before_norm);
  normalize<T>(part.pre_norm, kept.before_norm, tokens);
}

template <typename T>
void embed_back(const EmbeddingPart<T>& part, const EmbeddingActivations<T>& kept,
                EmbeddingActivations<T>& d, View<T> dtokens, View<T> dpatches) {
  normalize_back<T>(part.pre_norm, kept.before_norm, dtokens);
  d.projected.resize(kept.patches.rows, dtokens.cols);
  const size_t each = dtokens.rows / kept.images, prefix = part.prefix.size();
  const Positions<T> positions(part, kept);
  const View<T> dpositions = part.positions.gradient;
  for (size_t r = 0; r < dtokens.rows; ++r) {
    const size_t image = r / each, index = r % each;
    const ConstView<T> dtoken = dtokens.row_range(r, 1);
    if (index >= prefix)
      copy<T>(dtoken, d.projected.view().row_range(image * (each - prefix) + index - prefix, 1));
    else if (!part.prefix[index].gradient.empty())
      add<T>(dtoken, part.prefix[index].gradient, part.project.isa);
    if (!dpositions.empty() && positions.has(index))
      add<T>(dtoken, dpositions.row_range(positions.row(image, index), 1), part.project.isa);
  }
  normalize_back<T>(part.norm, kept.projected, d.projected);
  linear_back<T>(part.project, {d.projected, kept.patches, dpatches});
}

template void embed(const EmbeddingPart<float>&, EmbeddingActivations<float>&, View<float>);
template void embed(const EmbeddingPart<double>&, EmbeddingActivations<double>&, View<double>);
template void embed_back(const EmbeddingPart<float>&, const EmbeddingActivations<float>&,
                         EmbeddingActivations<float>&, View<float>, View<float>);
template void embed_back(const EmbeddingPart<double>&, const EmbeddingActivations<double>&,
                         EmbeddingActivations<double>&, View<double>, View<double>);

}  // namespace vit::gradient
