#include "vit/gradient/block.h"

namespace vit::gradient {
namespace {

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

template <typename T>
Step<T> attention_step(const Block<T>& block, size_t branch) {
  const BranchPart<T>& part = block.branches[branch];
  return {block.kind, part.norm1, part.scale1,
          block.paths.empty() ? block.paths : block.paths.row_range(0, 1)};
}

template <typename T>
Step<T> mlp_step(const Block<T>& block, size_t branch) {
  const BranchPart<T>& part = block.branches[branch];
  return {block.kind, part.norm2, part.scale2,
          block.paths.empty() ? block.paths : block.paths.row_range(1, 1)};
}

/// y += path · scale · x
template <typename T>
void add_update(const Step<T>& step, ConstView<T> x, View<T> y) {
  if (step.paths.empty()) return add<T>(x, step.scale.value, y, step.norm.isa);
  const size_t images = step.paths.cols, tokens = x.rows / images;
  Numbers<T> factors(1, x.cols);
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

/// back.dy, the gradient at the step's output, through f_back(in, dupdate, din) to what is added to
/// back.dx. In a block of one branch both are the same matrix.
template <typename T, typename F>
void step_backward(const Step<T>& step, const StepActivations<T>& kept, StepActivations<T>& d,
                   const Back<T>& back, const F& f_back) {
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

/// What the branches of a step read while each adds to `gradient`.
template <typename T>
ConstView<T> incoming(const Block<T>& block, View<T> gradient, Numbers<T>& copied) {
  if (block.branches.size() == 1) return gradient;
  keep<T>(gradient, copied);
  return copied;
}

/// Both sublayers read the same normed tokens, and their sum is one update.
template <typename T>
void forward_parallel(const Block<T>& block, BranchActivations<T>& kept, View<T> tokens) {
  const BranchPart<T>& part = block.branches.front();
  keep<T>(tokens, kept.attention_step.x);
  step_forward<T>(attention_step(block, 0), kept.attention_step, tokens,
                  [&](ConstView<T> in, View<T> y, bool accumulate) {
                    attend<T>(part.attention, in, kept.attention, y, accumulate);
                    feed_forward<T>(part.mlp, in, kept.mlp, y, true);
                  });
}

template <typename T>
void backward_parallel(const Block<T>& block, BranchActivations<T>& kept, BranchActivations<T>& d,
                       View<T> gradient, const AttentionHook<T>& hook) {
  const BranchPart<T>& part = block.branches.front();
  step_backward<T>(
      attention_step(block, 0), kept.attention_step, d.attention_step, {gradient, {}, gradient},
      [&](ConstView<T> in, ConstView<T> dupdate, View<T> din) {
        attend_back<T>(part.attention, kept.attention, d.attention, {dupdate, in, din}, hook);
        feed_forward_back<T>(part.mlp, kept.mlp, d.mlp, {dupdate, in, din, true});
      });
}

template <typename T>
AttentionHook<T> for_branch(const AttentionHook<T>& hook, size_t branch) {
  if (!hook) return {};
  return [&hook, branch](AttentionTap<T> tap) {
    tap.branch = branch;
    hook(tap);
  };
}

}  // namespace

template <typename T>
void forward(const Block<T>& block, std::vector<BranchActivations<T>>& kept, View<T> tokens) {
  kept.resize(block.branches.size());
  for (BranchActivations<T>& branch : kept) {
    branch.attention.images = block.images;
    branch.attention.kept_patches = block.kept_patches;
  }
  if (block.kind == BlockKind::kParallel) return forward_parallel<T>(block, kept.front(), tokens);
  for (BranchActivations<T>& branch : kept) keep<T>(tokens, branch.attention_step.x);
  for (size_t i = 0; i < kept.size(); ++i)
    step_forward<T>(attention_step(block, i), kept[i].attention_step, tokens,
                    [&](ConstView<T> in, View<T> y, bool accumulate) {
                      attend<T>(block.branches[i].attention, in, kept[i].attention, y, accumulate);
                    });
  for (BranchActivations<T>& branch : kept) keep<T>(tokens, branch.mlp_step.x);
  for (size_t i = 0; i < kept.size(); ++i)
    step_forward<T>(mlp_step(block, i), kept[i].mlp_step, tokens,
                    [&](ConstView<T> in, View<T> y, bool accumulate) {
                      feed_forward<T>(block.branches[i].mlp, in, kept[i].mlp, y, accumulate);
                    });
}

template <typename T>
void backward(const Block<T>& block, std::vector<BranchActivations<T>>& kept,
              BranchActivations<T>& d, View<T> gradient, const AttentionHook<T>& hook) {
  if (block.kind == BlockKind::kParallel)
    return backward_parallel<T>(block, kept.front(), d, gradient, hook);
  ConstView<T> dy = incoming(block, gradient, d.mlp_step.x);
  for (size_t i = 0; i < kept.size(); ++i)
    step_backward<T>(
        mlp_step(block, i), kept[i].mlp_step, d.mlp_step, {dy, {}, gradient},
        [&](ConstView<T> in, ConstView<T> dupdate, View<T> din) {
          feed_forward_back<T>(block.branches[i].mlp, kept[i].mlp, d.mlp, {dupdate, in, din});
        });
  dy = incoming(block, gradient, d.attention_step.x);
  for (size_t i = 0; i < kept.size(); ++i)
    step_backward<T>(attention_step(block, i), kept[i].attention_step, d.attention_step,
                     {dy, {}, gradient}, [&](ConstView<T> in, ConstView<T> dupdate, View<T> din) {
                       attend_back<T>(block.branches[i].attention, kept[i].attention, d.attention,
                                      {dupdate, in, din}, for_branch(hook, i));
                     });
}

template void forward(const Block<float>&, std::vector<BranchActivations<float>>&, View<float>);
template void forward(const Block<double>&, std::vector<BranchActivations<double>>&, View<double>);
template void backward(const Block<float>&, std::vector<BranchActivations<float>>&,
                       BranchActivations<float>&, View<float>, const AttentionHook<float>&);
template void backward(const Block<double>&, std::vector<BranchActivations<double>>&,
                       BranchActivations<double>&, View<double>, const AttentionHook<double>&);

}  // namespace vit::gradient
