#include "vit/gradient/attention.h"

#include <cmath>

namespace vit::gradient {
namespace {

/// One image's part of qkv, whose columns are queries, keys and values.
template <typename T>
Heads<T> heads_of(const AttentionPart<T>& part, View<T> qkv, View<T> probabilities) {
  const size_t d = qkv.cols / (part.heads + 2 * part.key_value_heads);
  const size_t queries = part.heads * d, keys = part.key_value_heads * d;
  return {.queries = qkv.col_range(0, queries),
          .keys = qkv.col_range(queries, keys),
          .values = qkv.col_range(queries + keys, keys),
          .probabilities = probabilities,
          .heads = part.heads,
          .operands = part.qkv.operands,
          .isa = part.qkv.isa};
}

/// Rows of one image in a matrix that has as many per image as any other.
template <typename T>
BasicMatrixView<T> of_image(BasicMatrixView<T> all, size_t images, size_t image) {
  const size_t rows = all.rows / images;
  return all.row_range(image * rows, rows);
}

template <typename T>
void normalize_queries_and_keys(const AttentionPart<T>& part, AttentionActivations<T>& kept) {
  if (part.query_norm.weight.empty()) return;
  const Heads<T> all = heads_of<T>(part, kept.qkv, {});
  const size_t queries = all.queries.cols, keys = all.keys.cols;
  kept.raw.resize(all.queries.rows, queries + keys);
  copy<T>(kept.qkv.view().col_range(0, queries + keys), kept.raw);
  normalize<T>(part.query_norm, all.queries, all.queries);
  normalize<T>(part.key_norm, all.keys, all.keys);
}

template <typename T>
void normalize_queries_and_keys_back(const AttentionPart<T>& part,
                                     const AttentionActivations<T>& kept, View<T> dqkv) {
  if (part.query_norm.weight.empty()) return;
  const Heads<T> d = heads_of<T>(part, dqkv, {});
  const ConstView<T> raw = kept.raw;
  normalize_back<T>(part.query_norm, raw.col_range(0, d.queries.cols), d.queries);
  normalize_back<T>(part.key_norm, raw.col_range(d.queries.cols, d.keys.cols), d.keys);
}

/// bias [1, columns] is added to every row.
template <typename T>
void add_row(const Parameter<T>& bias, View<T> x, Isa isa) {
  for (size_t r = 0; !bias.empty() && r < x.rows; ++r) add<T>(bias.value, x.row_range(r, 1), isa);
}

template <typename T>
void add_query_and_value_bias(const AttentionPart<T>& part, View<T> qkv) {
  const Heads<T> all = heads_of<T>(part, qkv, {});
  add_row<T>(part.query_bias, all.queries, part.qkv.isa);
  add_row<T>(part.value_bias, all.values, part.qkv.isa);
}

template <typename T>
void add_query_and_value_bias_back(const AttentionPart<T>& part, View<T> dqkv) {
  const Heads<T> d = heads_of<T>(part, dqkv, {});
  if (!part.query_bias.gradient.empty())
    add_column_sums<T>(d.queries, part.query_bias.gradient, part.qkv.isa);
  if (!part.value_bias.gradient.empty())
    add_column_sums<T>(d.values, part.value_bias.gradient, part.qkv.isa);
}

template <typename T>
void rotate_queries_and_keys(const AttentionPart<T>& part, AttentionActivations<T>& kept) {
  if (!part.places.rotates()) return;
  for (size_t image = 0; image < kept.images; ++image) {
    const Heads<T> x = heads_of<T>(part, of_image(kept.qkv.view(), kept.images, image), {});
    rotate<T>(part.places, kept.places, kept.patches(image), x.queries);
    rotate<T>(part.places, kept.places, kept.patches(image), x.keys);
  }
}

template <typename T>
void rotate_queries_and_keys_back(const AttentionPart<T>& part, AttentionActivations<T>& kept,
                                  AttentionActivations<T>& d) {
  if (!part.places.rotates()) return;
  for (size_t image = 0; image < kept.images; ++image) {
    const Heads<T> x = heads_of<T>(part, of_image(kept.qkv.view(), kept.images, image), {});
    const Heads<T> dx = heads_of<T>(part, of_image(d.qkv.view(), kept.images, image), {});
    const KeptPatches patches = kept.patches(image);
    rotate_back<T>(part.places, kept.places, patches, x.queries, dx.queries, d.places);
    rotate_back<T>(part.places, kept.places, patches, x.keys, dx.keys, d.places);
  }
}

/// The square root of a head's width: what scores are divided by.
template <typename T>
T score_divisor(const AttentionPart<T>& part) {
  return std::sqrt(static_cast<T>(part.places.head_width));
}

/// The relative position bias of one image, for scores that are scaled later; empty: none. Images
/// with all their patches have the same.
template <typename T>
ConstView<T> bias_of_image(const AttentionPart<T>& part, AttentionActivations<T>& kept,
                           size_t image) {
  if (!part.places.biased()) return {};
  if (image > 0 && kept.kept_patches.empty()) return kept.pair_bias;
  const size_t tokens = kept.qkv.rows() / kept.images;
  kept.pair_bias.resize(part.heads * tokens, tokens);
  kept.pair_bias.fill(T{0});
  add_bias<T>(part.places, kept.places, kept.patches(image), score_divisor(part), kept.pair_bias);
  return kept.pair_bias;
}

template <typename T>
Heads<T> heads_of_image(const AttentionPart<T>& part, AttentionActivations<T>& kept, size_t image) {
  return heads_of<T>(part, of_image(kept.qkv.view(), kept.images, image),
                     of_image(kept.probabilities.view(), kept.images, image));
}

/// d.context to d.qkv.
template <typename T>
void attend_image_back(const AttentionPart<T>& part, AttentionActivations<T>& kept,
                       AttentionActivations<T>& d, size_t image, const HookAt<T>& hook) {
  const size_t images = kept.images;
  const Heads<T> x = heads_of_image(part, kept, image);
  const Heads<T> dx = heads_of<T>(part, of_image(d.qkv.view(), images, image), d.probabilities);
  const ConstView<T> dcontext = of_image(d.context.view(), images, image);
  if (part.talking.empty())
    weigh_back<T>(x, dcontext, dx);
  else
    weigh_back<T>(part.talking, x, kept.talking, dcontext, dx, d.talking);
  hook(image, x.probabilities, dx.probabilities);
  if (part.talking.empty())
    score_back<T>(x, dx);
  else
    score_back<T>(part.talking, x, of_image(kept.talking.scores.view(), images, image), dx,
                  d.talking);
  if (part.places.biased())
    add_bias_back<T>(part.places, kept.patches(image), score_divisor(part), dx.probabilities,
                     d.places);
}

}  // namespace

template <typename T>
void attend(const AttentionPart<T>& part, ConstView<T> x, AttentionActivations<T>& kept, View<T> y,
            bool accumulate) {
  const size_t images = kept.images;
  kept.qkv.resize(x.rows, part.qkv.weight.value.rows);
  linear<T>(part.qkv, x, kept.qkv);
  add_query_and_value_bias<T>(part, kept.qkv);
  normalize_queries_and_keys(part, kept);
  prepare<T>(part.places, kept.places);
  rotate_queries_and_keys(part, kept);

  kept.probabilities.resize(part.heads * x.rows, x.rows / images);
  if (!part.talking.empty()) kept.talking.scores.resize(part.heads * x.rows, x.rows / images);
  kept.context.resize(x.rows, part.project.linear.weight.value.cols);
  for (size_t image = 0; image < images; ++image) {
    Heads<T> heads = heads_of_image(part, kept, image);
    heads.bias = bias_of_image(part, kept, image);
    const View<T> context = of_image(kept.context.view(), images, image);
    if (part.talking.empty())
      weigh<T>(heads, context);
    else
      weigh<T>(part.talking, heads, of_image(kept.talking.scores.view(), images, image),
               kept.talking.mixed, context);
  }
  project<T>(part.project, kept.context, kept.normed_context, y, accumulate);
}

template <typename T>
void attend_back(const AttentionPart<T>& part, AttentionActivations<T>& kept,
                 AttentionActivations<T>& d, const Back<T>& back, const HookAt<T>& hook) {
  const size_t images = kept.images;
  d.context.resize(kept.context.rows(), kept.context.cols());
  project_back<T>(part.project, kept.normed_context, {back.dy, kept.context, d.context});

  d.qkv.resize(kept.qkv.rows(), kept.qkv.cols());
  d.probabilities.resize(kept.probabilities.rows() / images, kept.probabilities.cols());
  clear<T>(kept.places, d.places);
  for (size_t image = 0; image < images; ++image) attend_image_back(part, kept, d, image, hook);
  rotate_queries_and_keys_back(part, kept, d);
  prepare_back<T>(part.places, kept.places, d.places);
  normalize_queries_and_keys_back<T>(part, kept, d.qkv);
  add_query_and_value_bias_back<T>(part, d.qkv);
  linear_back<T>(part.qkv, {d.qkv, back.x, back.dx, back.accumulate});
}

template void attend(const AttentionPart<float>&, ConstView<float>, AttentionActivations<float>&,
                     View<float>, bool);
template void attend(const AttentionPart<double>&, ConstView<double>, AttentionActivations<double>&,
                     View<double>, bool);
template void attend_back(const AttentionPart<float>&, AttentionActivations<float>&,
                          AttentionActivations<float>&, const Back<float>&, const HookAt<float>&);
template void attend_back(const AttentionPart<double>&, AttentionActivations<double>&,
                          AttentionActivations<double>&, const Back<double>&,
                          const HookAt<double>&);

}  // namespace vit::gradient
