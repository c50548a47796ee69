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

template <typename T>
void embed_image(const EmbeddingRule& rule, const EmbeddingPart<const T>& part,
                 ConstView<T> positions, ConstView<T> projected, View<T> tokens) {
  const size_t prefix = rule.prefix.size();
  const size_t covered = positions.empty() ? 0 : positions.rows - projected.rows;
  for (size_t i = 0; i < prefix; ++i) {
    copy<T>(prefix_row(rule, part, i), tokens.row_range(i, 1));
    if (i < covered) add<T>(positions.row_range(i, 1), tokens.row_range(i, 1));
  }
  const View<T> rest = tokens.row_range(prefix, projected.rows);
  copy<T>(projected, rest);
  if (!positions.empty()) add<T>(positions.row_range(covered, projected.rows), rest);
}

template <typename T>
void embed_image_back(const EmbeddingRule& rule, const EmbeddingPart<T>& gradients,
                      ConstView<T> dtokens, View<T> dprojected) {
  const size_t prefix = rule.prefix.size();
  const View<T> dpositions = gradients.positions;
  const size_t covered = dpositions.empty() ? 0 : dpositions.rows - dprojected.rows;
  for (size_t i = 0; i < prefix; ++i) {
    const ConstView<T> row = dtokens.row_range(i, 1);
    const View<T> token = prefix_row(rule, gradients, i);
    if (!token.empty()) add<T>(row, token);
    if (i < covered) add<T>(row, dpositions.row_range(i, 1));
  }
  const ConstView<T> rest = dtokens.row_range(prefix, dprojected.rows);
  copy<T>(rest, dprojected);
  if (!dpositions.empty()) add<T>(rest, dpositions.row_range(covered, dprojected.rows));
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
  const size_t patches = tokens.rows / rule.images - rule.prefix.size();
  for (size_t image = 0; image < rule.images; ++image)
    embed_image<T>(
        rule, part, positions, projected->view().row_range(image * patches, patches),
        tokens.row_range(image * (tokens.rows / rule.images), tokens.rows / rule.images));
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
  const size_t tokens = gradient.rows / rule.images;
  const size_t patches = tokens - rule.prefix.size();
  for (size_t image = 0; image < rule.images; ++image)
    embed_image_back<T>(rule, back.gradients, gradient.row_range(image * tokens, tokens),
                        back.scratch.view().row_range(image * patches, patches));
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
