#include "vit/gradient/embedding.h"

namespace vit::gradient {
namespace {

/// The row of prefix token `index`, wherever it is stored.
template <typename E>
BasicMatrixView<E> prefix_row(const EmbeddingRule& rule, const EmbeddingPart<E>& part,
                              size_t index) {
  if (rule.prefix[index] == PrefixToken::kClass) return part.class_token;
  if (rule.prefix[index] == PrefixToken::kDistillation) return part.distillation_token;
  if (part.registers.empty()) return {};
  const auto before =
      std::count(rule.prefix.begin(), rule.prefix.begin() + static_cast<std::ptrdiff_t>(index),
                 PrefixToken::kRegister);
  return part.registers.row_range(static_cast<size_t>(before), 1);
}

/// The rows of one image, and which positions they have.
struct Place {
  size_t image;
  size_t tokens;   ///< of each image
  size_t covered;  ///< rows of the position table before those of the grid
};

/// The row of the position table of patch `i` of the image.
size_t position_row(const EmbeddingRule& rule, const Place& place, size_t i) {
  const size_t patches = place.tokens - rule.prefix.size();
  return place.covered + (rule.kept.empty() ? i : rule.kept[place.image * patches + i]);
}

/// Rows of the table that belong to prefix tokens: it is known how many patches a grid has.
template <typename E>
size_t covered_rows(const EmbeddingRule& rule, BasicMatrixView<E> positions) {
  return positions.rows > rule.grid ? positions.rows - rule.grid : 0;
}

template <typename T>
void embed_image(const EmbeddingRule& rule, const Place& place, const EmbeddingPart<const T>& part,
                 ConstView<T> positions, View<T> tokens) {
  const size_t prefix = rule.prefix.size();
  for (size_t i = 0; i < prefix; ++i) {
    copy<T>(prefix_row(rule, part, i), tokens.row_range(i, 1));
    if (i < place.covered) add<T>(positions.row_range(i, 1), tokens.row_range(i, 1));
  }
  if (positions.empty()) return;
  for (size_t i = prefix; i < tokens.rows; ++i)
    add<T>(positions.row_range(position_row(rule, place, i - prefix), 1), tokens.row_range(i, 1));
}

template <typename T>
void embed_image_back(const EmbeddingRule& rule, const Place& place,
                      const EmbeddingPart<T>& gradients, ConstView<T> dtokens) {
  const size_t prefix = rule.prefix.size();
  const View<T> dpositions = gradients.positions;
  for (size_t i = 0; i < prefix; ++i) {
    const ConstView<T> row = dtokens.row_range(i, 1);
    const View<T> token = prefix_row(rule, gradients, i);
    if (!token.empty()) add<T>(row, token);
    if (i < place.covered) add<T>(row, dpositions.row_range(i, 1));
  }
  if (dpositions.empty()) return;
  for (size_t i = prefix; i < dtokens.rows; ++i)
    add<T>(dtokens.row_range(i, 1), dpositions.row_range(position_row(rule, place, i - prefix), 1));
}

}  // namespace

template <typename T>
void embed(const EmbeddingRule& rule, const EmbeddingPart<const T>& part, ConstView<T> positions,
           EmbeddingTrace<T>& trace, View<T> tokens) {
  trace.projected.resize(trace.patches.rows, tokens.cols);
  linear<T>(part.project, trace.patches, trace.projected);
  const Numbers<T>* projected = &trace.projected;
  if (!part.norm.weight.empty()) {
    trace.normed.resize(trace.patches.rows, tokens.cols);
    normalize<T>(rule.norm, part.norm, trace.projected, trace.normed);
    projected = &trace.normed;
  }
  const size_t each = tokens.rows / rule.images, prefix = rule.prefix.size();
  for (size_t image = 0; image < rule.images; ++image) {
    const View<T> own = tokens.row_range(image * each, each);
    copy<T>(projected->view().row_range(image * (each - prefix), each - prefix),
            own.row_range(prefix, each - prefix));
    embed_image<T>(rule, {image, each, covered_rows(rule, positions)}, part, positions, own);
  }
  if (part.pre_norm.weight.empty()) return;
  trace.before_norm.resize(tokens.rows, tokens.cols);
  copy<T>(tokens, trace.before_norm);
  normalize<T>(rule.norm, part.pre_norm, trace.before_norm, tokens);
}

template <typename T>
void embed_back(const EmbeddingRule& rule, const EmbeddingBack<T>& back, View<T> gradient,
                View<T> dpatches) {
  normalize_back<T>(rule.norm, back.part.pre_norm, back.trace.before_norm, gradient,
                    back.gradients.pre_norm);
  back.scratch.resize(back.trace.patches.rows, gradient.cols);
  const size_t each = gradient.rows / rule.images, prefix = rule.prefix.size();
  for (size_t image = 0; image < rule.images; ++image) {
    const ConstView<T> own = gradient.row_range(image * each, each);
    copy<T>(own.row_range(prefix, each - prefix),
            back.scratch.view().row_range(image * (each - prefix), each - prefix));
    embed_image_back<T>(rule, {image, each, covered_rows(rule, back.gradients.positions)},
                        back.gradients, own);
  }
  normalize_back<T>(rule.norm, back.part.norm, back.trace.projected, back.scratch,
                    back.gradients.norm);
  linear_back<T>(back.part.project, back.scratch, back.gradients.project,
                 {back.trace.patches, dpatches});
}

template void embed(const EmbeddingRule&, const EmbeddingPart<const float>&, ConstView<float>,
                    EmbeddingTrace<float>&, View<float>);
template void embed(const EmbeddingRule&, const EmbeddingPart<const double>&, ConstView<double>,
                    EmbeddingTrace<double>&, View<double>);
template void embed_back(const EmbeddingRule&, const EmbeddingBack<float>&, View<float>,
                         View<float>);
template void embed_back(const EmbeddingRule&, const EmbeddingBack<double>&, View<double>,
                         View<double>);

}  // namespace vit::gradient
