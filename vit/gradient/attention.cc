#include "vit/gradient/attention.h"

#include <cmath>

namespace vit::gradient {
namespace {

template <typename T>
double scale_of(const HeadsCall<T>& call) {
  return 1.0 / std::sqrt(static_cast<double>(call.head_width()));
}

/// The columns of queries, keys and values in their common matrix.
struct Columns {
  size_t queries;
  size_t keys;

  explicit Columns(const AttentionRule& rule)
      : queries(rule.heads * rule.head_width), keys(rule.key_value_heads * rule.head_width) {}
  size_t all() const { return queries + 2 * keys; }
};

template <typename E>
struct Projections {
  BasicMatrixView<E> queries, keys, values;
};

template <typename E>
Projections<E> split(const AttentionRule& rule, BasicMatrixView<E> qkv, size_t image) {
  const Columns c(rule);
  const size_t tokens = qkv.rows / rule.images;
  const BasicMatrixView<E> own = qkv.row_range(image * tokens, tokens);
  return {own.col_range(0, c.queries), own.col_range(c.queries, c.keys),
          own.col_range(c.queries + c.keys, c.keys)};
}

template <typename T>
HeadsCall<T> call_of(const AttentionRule& rule, const Numbers<T>& qkv, size_t image) {
  const auto p = split(rule, qkv.view(), image);
  return {.queries = p.queries,
          .keys = p.keys,
          .values = p.values,
          .heads = rule.heads,
          .key_value_heads = rule.key_value_heads};
}

/// Rows of one image in a matrix that has as many per image as any other.
template <typename E>
BasicMatrixView<E> of_image(BasicMatrixView<E> all, size_t images, size_t image) {
  const size_t rows = all.rows / images;
  return all.row_range(image * rows, rows);
}

template <typename T>
void normalize_queries_and_keys(const AttentionRule& rule, const AttentionPart<const T>& part,
                                AttentionTrace<T>& trace) {
  if (part.query_norm.weight.empty()) return;
  const Columns c(rule);
  const View<T> qkv = trace.qkv;
  trace.raw.resize(qkv.rows, c.queries + c.keys);
  copy<T>(qkv.col_range(0, c.queries + c.keys), trace.raw);
  const View<T> q = qkv.col_range(0, c.queries), k = qkv.col_range(c.queries, c.keys);
  normalize<T>(rule.norm, part.query_norm, q, q);
  normalize<T>(rule.norm, part.key_norm, k, k);
}

template <typename T>
void normalize_queries_and_keys_back(const AttentionRule& rule, const AttentionBack<T>& back) {
  if (back.part.query_norm.weight.empty()) return;
  const Columns c(rule);
  const ConstView<T> raw = back.trace.raw;
  const View<T> dqkv = back.scratch.qkv;
  normalize_back<T>(rule.norm, back.part.query_norm, raw.col_range(0, c.queries),
                    dqkv.col_range(0, c.queries), back.gradients.query_norm);
  normalize_back<T>(rule.norm, back.part.key_norm, raw.col_range(c.queries, c.keys),
                    dqkv.col_range(c.queries, c.keys), back.gradients.key_norm);
}

/// back.scratch.context to back.scratch.qkv, one image.
template <typename T>
void heads_back(const AttentionRule& rule, const AttentionBack<T>& back, size_t image) {
  const HeadsCall<T> call = call_of(rule, back.trace.qkv, image);
  const auto d = split(rule, back.scratch.qkv.view(), image);
  const HeadsGradient<T> gradient{d.queries, d.keys, d.values, back.scratch.probabilities};
  const ConstView<T> p = of_image(back.trace.probabilities.view(), rule.images, image);
  weigh_back<T>(call, p, of_image(back.scratch.context.view(), rule.images, image), gradient);
  if (back.hook != nullptr && *back.hook)
    (*back.hook)({back.layer, back.branch, image, p, gradient.probabilities});
  score_back<T>(call, p, gradient);
}

}  // namespace

template <typename T>
void weigh(const HeadsCall<T>& call, View<T> probabilities, View<T> context) {
  const size_t d = call.head_width(), rows = call.queries.rows;
  for (size_t h = 0; h < call.heads; ++h) {
    const size_t kv = h * call.key_value_heads / call.heads;
    const View<T> p = probabilities.row_range(h * rows, rows);
    gemm(call.queries.col_range(h * d, d), call.keys.col_range(kv * d, d), p,
         {.b = Transpose::kYes});
    softmax<T>(scale_of(call), p);
    gemm(p, call.values.col_range(kv * d, d), context.col_range(h * d, d), {});
  }
}

template <typename T>
void weigh_back(const HeadsCall<T>& call, ConstView<T> probabilities, ConstView<T> dcontext,
                const HeadsGradient<T>& gradient) {
  const size_t d = call.head_width(), rows = call.queries.rows;
  const size_t group = call.heads / call.key_value_heads;
  for (size_t h = 0; h < call.heads; ++h) {
    const size_t kv = h / group;
    const ConstView<T> dc = dcontext.col_range(h * d, d);
    gemm(dc, call.values.col_range(kv * d, d), gradient.probabilities.row_range(h * rows, rows),
         {.b = Transpose::kYes});
    gemm(probabilities.row_range(h * rows, rows), dc, gradient.values.col_range(kv * d, d),
         {.a = Transpose::kYes, .beta = h % group == 0 ? 0.0 : 1.0});
  }
}

template <typename T>
void score_back(const HeadsCall<T>& call, ConstView<T> probabilities,
                const HeadsGradient<T>& gradient) {
  softmax_back<T>(scale_of(call), probabilities, gradient.probabilities);
  const size_t d = call.head_width(), rows = call.queries.rows;
  const size_t group = call.heads / call.key_value_heads;
  for (size_t h = 0; h < call.heads; ++h) {
    const size_t kv = h / group;
    const ConstView<T> ds = gradient.probabilities.row_range(h * rows, rows);
    gemm(ds, call.keys.col_range(kv * d, d), gradient.queries.col_range(h * d, d), {});
    gemm(ds, call.queries.col_range(h * d, d), gradient.keys.col_range(kv * d, d),
         {.a = Transpose::kYes, .beta = h % group == 0 ? 0.0 : 1.0});
  }
}

template <typename T>
void attend(const AttentionRule& rule, const AttentionPart<const T>& part, ConstView<T> x,
            AttentionTrace<T>& trace, View<T> y) {
  const Columns columns(rule);
  trace.qkv.resize(x.rows, columns.all());
  linear<T>(part.qkv, x, trace.qkv);
  normalize_queries_and_keys(rule, part, trace);

  trace.probabilities.resize(rule.heads * x.rows, x.rows / rule.images);
  trace.context.resize(x.rows, columns.queries);
  for (size_t image = 0; image < rule.images; ++image)
    weigh(call_of(rule, trace.qkv, image), of_image(trace.probabilities.view(), rule.images, image),
          of_image(trace.context.view(), rule.images, image));

  if (part.output_norm.weight.empty()) return linear<T>(part.project, trace.context, y);
  trace.normed_context.resize(x.rows, columns.queries);
  normalize<T>(rule.norm, part.output_norm, trace.context, trace.normed_context);
  linear<T>(part.project, trace.normed_context, y);
}

template <typename T>
void attend_back(const AttentionRule& rule, const AttentionBack<T>& back, ConstView<T> dy,
                 const Input<T>& input) {
  const AttentionTrace<T>& trace = back.trace;
  AttentionScratch<T>& scratch = back.scratch;
  scratch.context.resize(dy.rows, trace.context.cols());
  const bool normed = !back.part.output_norm.weight.empty();
  const Numbers<T>& projected = normed ? trace.normed_context : trace.context;
  linear_back<T>(back.part.project, dy, back.gradients.project, {projected, scratch.context});
  normalize_back<T>(rule.norm, back.part.output_norm, trace.context, scratch.context,
                    back.gradients.output_norm);

  scratch.qkv.resize(dy.rows, trace.qkv.cols());
  scratch.probabilities.resize(trace.probabilities.rows() / rule.images,
                               trace.probabilities.cols());
  for (size_t image = 0; image < rule.images; ++image) heads_back(rule, back, image);
  normalize_queries_and_keys_back(rule, back);
  linear_back<T>(back.part.qkv, scratch.qkv, back.gradients.qkv, input);
}

template void weigh(const HeadsCall<float>&, View<float>, View<float>);
template void weigh(const HeadsCall<double>&, View<double>, View<double>);
template void weigh_back(const HeadsCall<float>&, ConstView<float>, ConstView<float>,
                         const HeadsGradient<float>&);
template void weigh_back(const HeadsCall<double>&, ConstView<double>, ConstView<double>,
                         const HeadsGradient<double>&);
template void score_back(const HeadsCall<float>&, ConstView<float>, const HeadsGradient<float>&);
template void score_back(const HeadsCall<double>&, ConstView<double>, const HeadsGradient<double>&);
template void attend(const AttentionRule&, const AttentionPart<const float>&, ConstView<float>,
                     AttentionTrace<float>&, View<float>);
template void attend(const AttentionRule&, const AttentionPart<const double>&, ConstView<double>,
                     AttentionTrace<double>&, View<double>);
template void attend_back(const AttentionRule&, const AttentionBack<float>&, ConstView<float>,
                          const Input<float>&);
template void attend_back(const AttentionRule&, const AttentionBack<double>&, ConstView<double>,
                          const Input<double>&);

}  // namespace vit::gradient
