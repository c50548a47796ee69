#include "vit/gradient/heads.h"

#include <cmath>

namespace vit::gradient {
namespace {

/// Rows and columns of one head. Several query heads may share a head of keys and values.
template <typename T>
struct Head {
  const Heads<T>& all;
  size_t index;
  size_t width = all.queries.cols / all.heads;
  size_t group = all.queries.cols / all.keys.cols;

  View<T> queries() const { return all.queries.col_range(index * width, width); }
  View<T> keys() const { return all.keys.col_range(index / group * width, width); }
  View<T> values() const { return all.values.col_range(index / group * width, width); }
  View<T> probabilities() const { return rows_of(all.probabilities); }
  template <typename E>
  BasicMatrixView<E> rows_of(BasicMatrixView<E> x) const {
    return x.row_range(index * all.queries.rows, all.queries.rows);
  }
  template <typename E>
  BasicMatrixView<E> of_context(BasicMatrixView<E> context) const {
    return context.col_range(index * width, width);
  }
  /// Gradients of shared keys and values are sums over the group.
  double beta() const { return index % group == 0 ? 0.0 : 1.0; }
};

template <typename T>
void score_head(const Head<T>& x) {
  multiply(x.queries(), x.keys(), x.probabilities(),
           {.b = Transpose::kYes, .operands = x.all.operands}, x.all.isa);
}

template <typename T>
void read_head(const Head<T>& x, View<T> context) {
  multiply(x.probabilities(), x.values(), x.of_context(context), {.operands = x.all.operands},
           x.all.isa);
}

}  // namespace

template <typename T>
double score_scale(const Heads<T>& x) {
  return 1.0 / std::sqrt(static_cast<double>(Head<T>{x, 0}.width));
}

template <typename T>
void score(const Heads<T>& x) {
  for (size_t h = 0; h < x.heads; ++h) score_head(Head<T>{x, h});
}

template <typename T>
void read(const Heads<T>& x, View<T> context) {
  for (size_t h = 0; h < x.heads; ++h) read_head<T>({x, h}, context);
}

template <typename T>
void weigh(const Heads<T>& x, View<T> context) {
  for (size_t h = 0; h < x.heads; ++h) {
    const Head<T> head{x, h};
    score_head(head);
    if (!x.bias.empty()) add<T>(head.rows_of(x.bias), head.probabilities(), x.isa);
    softmax<T>(score_scale(x), head.probabilities(), x.isa);
    read_head<T>(head, context);
  }
}

template <typename T>
void weigh_back(const Heads<T>& x, ConstView<T> dcontext, const Heads<T>& dx) {
  for (size_t h = 0; h < x.heads; ++h) {
    const Head<T> head{x, h}, dhead{dx, h};
    const ConstView<T> dc = head.of_context(dcontext);
    multiply(dc, head.values(), dhead.probabilities(),
             {.b = Transpose::kYes, .operands = x.operands}, x.isa);
    multiply(head.probabilities(), dc, dhead.values(),
             {.a = Transpose::kYes, .beta = head.beta(), .operands = x.operands}, x.isa);
  }
}

template <typename T>
void score_back(const Heads<T>& x, const Heads<T>& dx) {
  softmax_back<T>(score_scale(x), x.probabilities, dx.probabilities, x.isa);
  dot_back<T>(x, dx);
}

template <typename T>
void dot_back(const Heads<T>& x, const Heads<T>& dx) {
  for (size_t h = 0; h < x.heads; ++h) {
    const Head<T> head{x, h}, dhead{dx, h};
    const ConstView<T> ds = dhead.probabilities();
    multiply(ds, head.keys(), dhead.queries(), {.operands = x.operands}, x.isa);
    multiply(ds, head.queries(), dhead.keys(),
             {.a = Transpose::kYes, .beta = head.beta(), .operands = x.operands}, x.isa);
  }
}

template double score_scale(const Heads<float>&);
template double score_scale(const Heads<double>&);
template void score(const Heads<float>&);
template void score(const Heads<double>&);
template void read(const Heads<float>&, View<float>);
template void read(const Heads<double>&, View<double>);
template void weigh(const Heads<float>&, View<float>);
template void weigh(const Heads<double>&, View<double>);
template void weigh_back(const Heads<float>&, ConstView<float>, const Heads<float>&);
template void weigh_back(const Heads<double>&, ConstView<double>, const Heads<double>&);
template void score_back(const Heads<float>&, const Heads<float>&);
template void score_back(const Heads<double>&, const Heads<double>&);
template void dot_back(const Heads<float>&, const Heads<float>&);
template void dot_back(const Heads<double>&, const Heads<double>&);

}  // namespace vit::gradient
