/// A residual step around any f, forward and backward.
#pragma once

#include "vit/gradient/linear.h"

namespace vit::gradient {

/// One residual step x' = x + scale · f(norm(x)), with the norm where the kind of block has it.
template <typename T>
struct StepActivations {
  GrowingMatrix<T>
      x;  ///< what the step read; of gradients: that at its output, for several branches
  GrowingMatrix<T> in;      ///< what f read, where that is a normed x
  GrowingMatrix<T> update;  ///< what f gave, where it was not added to x as it is
  GrowingMatrix<T> normed;  ///< what the norm after f gave (residual post-norm) or read (post-norm)
};

/// One residual step apart from its f: the norm, the layer scale and drop path.
template <typename T>
struct Step {
  BlockKind kind;
  const NormPart<T>& norm;
  const Parameter<T>& scale;  ///< per column, or empty
  ConstView<T> paths;         ///< per image, or empty

  bool norm_comes_first() const {
    return kind == BlockKind::kPreNorm || kind == BlockKind::kParallel;
  }
  /// What f gives is added as it is, so that f can add it itself.
  bool plain() const {
    return scale.empty() && paths.empty() && kind != BlockKind::kResidualPostNorm;
  }
};

/// y += path · scale · x
template <typename T>
void add_update(const Step<T>& step, ConstView<T> x, View<T> y) {
  if (step.paths.empty()) return add<T>(x, step.scale.value, y, step.norm.isa);
  const size_t images = step.paths.cols, tokens = x.rows / images;
  GrowingMatrix<T> factors(1, x.cols);
  for (size_t image = 0; image < images; ++image) {
    const T path = step.paths(0, image);
    if (path == T{0}) continue;
    for (size_t c = 0; c < x.cols; ++c)
      factors.view()(0, c) = path * (step.scale.empty() ? T{1} : step.scale.value(0, c));
    add<T>(x.row_range(image * tokens, tokens), factors, y.row_range(image * tokens, tokens),
           step.norm.isa);
  }
}

/// The gradient at the update, dy · path · scale, and that of the scale itself.
template <typename T>
void add_update_back(const Step<T>& step, ConstView<T> update, ConstView<T> dy, View<T> dupdate) {
  zero<T>(dupdate);
  add_update<T>(step, dy, dupdate);
  const View<T> dscale = step.scale.gradient;
  if (dscale.empty()) return;
  const size_t tokens = step.paths.empty() ? dy.rows : dy.rows / step.paths.cols;
  for (size_t r = 0; r < dy.rows; ++r) {
    const T path = step.paths.empty() ? T{1} : step.paths(0, r / tokens);
    for (size_t c = 0; c < dy.cols; ++c) dscale(0, c) += path * dy(r, c) * update(r, c);
  }
}

/// kept.x holds what the step reads; `tokens` is updated. f(in, y, accumulate) fills y or adds to
/// it.
template <typename T, typename F>
void step_forward(const Step<T>& step, StepActivations<T>& kept, View<T> tokens, const F& f) {
  if (step.norm_comes_first()) {
    kept.in.resize(tokens.rows, tokens.cols);
    normalize<T>(step.norm, kept.x, kept.in);
  }
  const ConstView<T> in = step.norm_comes_first() ? kept.in : kept.x;
  if (step.plain()) {
    f(in, tokens, true);
  } else {
    kept.update.resize(tokens.rows, tokens.cols);
    f(in, kept.update.view(), false);
    if (step.kind == BlockKind::kResidualPostNorm) {
      kept.normed.resize(tokens.rows, tokens.cols);
      normalize<T>(step.norm, kept.update, kept.normed);
      return add_update<T>(step, kept.normed, tokens);
    }
    add_update<T>(step, kept.update, tokens);
  }
  if (step.kind != BlockKind::kPostNorm) return;
  keep<T>(tokens, kept.normed);
  normalize<T>(step.norm, kept.normed, tokens);
}

/// Gradients of a step. In a block of one branch both are the same matrix.
template <typename T>
struct StepBack {
  ConstView<T> dy;  ///< at its output
  View<T> dx;       ///< at its input, added to
};

/// back.dy through f_back(in, dupdate, din) to what is added to back.dx.
template <typename T, typename F>
void step_backward(const Step<T>& step, const StepActivations<T>& kept, StepActivations<T>& d,
                   const StepBack<T>& back, const F& f_back) {
  // The residual of a post-norm block, which has one branch, went through the norm as well.
  if (step.kind == BlockKind::kPostNorm) normalize_back<T>(step.norm, kept.normed, back.dx);
  ConstView<T> dupdate = back.dy;
  if (!step.plain()) {
    d.update.resize(back.dy.rows, back.dy.cols);
    const bool norm_after_f = step.kind == BlockKind::kResidualPostNorm;
    add_update_back<T>(step, norm_after_f ? kept.normed : kept.update, back.dy, d.update);
    if (norm_after_f) normalize_back<T>(step.norm, kept.update, d.update);
    dupdate = d.update;
  }
  d.in.resize(back.dy.rows, back.dy.cols);
  f_back(step.norm_comes_first() ? kept.in.view() : kept.x.view(), dupdate, d.in.view());
  if (step.norm_comes_first()) normalize_back<T>(step.norm, kept.x, d.in);
  add<T>(d.in.view(), back.dx, step.norm.isa);
}

}  // namespace vit::gradient
