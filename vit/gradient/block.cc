#include "vit/gradient/block.h"

namespace vit::gradient {
namespace {

/// One residual step apart from its f: the norm, the layer scale and drop path.
template <typename T>
struct Step {
  BlockKind kind;
  NormRule rule;
  const NormPart<const T>& norm;
  std::span<const T> scale;  ///< per column, or empty
  std::span<const T> paths;  ///< per image, or empty
};

/// y += path · scale · x
template <typename T>
void add_update(const Step<T>& step, ConstView<T> x, View<T> y) {
  if (step.paths.empty()) return add<T>(x, step.scale, y);
  const size_t tokens = x.rows / step.paths.size();
  std::vector<T> factors(x.cols);
  for (size_t image = 0; image < step.paths.size(); ++image) {
    if (step.paths[image] == T{0}) continue;
    for (size_t c = 0; c < x.cols; ++c)
      factors[c] = step.paths[image] * (step.scale.empty() ? T{1} : step.scale[c]);
    add<T>(x.row_range(image * tokens, tokens), factors, y.row_range(image * tokens, tokens));
  }
}

/// The gradient at the update, dy · path · scale, and that of the scale itself.
template <typename T>
void add_update_back(const Step<T>& step, ConstView<T> update, ConstView<T> dy, std::span<T> dscale,
                     View<T> dupdate) {
  for (size_t r = 0; r < dy.rows; ++r) std::fill_n(dupdate.row(r), dy.cols, T{0});
  add_update<T>(step, dy, dupdate);
  if (dscale.empty()) return;
  const size_t tokens = step.paths.empty() ? dy.rows : dy.rows / step.paths.size();
  for (size_t r = 0; r < dy.rows; ++r) {
    const T path = step.paths.empty() ? T{1} : step.paths[r / tokens];
    for (size_t c = 0; c < dy.cols; ++c) dscale[c] += path * dy(r, c) * update(r, c);
  }
}

bool norm_comes_first(BlockKind kind) {
  return kind == BlockKind::kPreNorm || kind == BlockKind::kParallel;
}

/// What f reads.
template <typename T>
ConstView<T> input_of(const Step<T>& step, const StepTrace<T>& trace) {
  return norm_comes_first(step.kind) ? trace.in.view() : trace.x.view();
}

/// trace.x holds what the step reads; `tokens` is updated. f(in, update) fills the update.
template <typename T, typename F>
void step_forward(const Step<T>& step, StepTrace<T>& trace, View<T> tokens, const F& f) {
  if (norm_comes_first(step.kind)) {
    trace.in.resize(tokens.rows, tokens.cols);
    normalize<T>(step.rule, step.norm, trace.x, trace.in);
  }
  trace.update.resize(tokens.rows, tokens.cols);
  f(input_of(step, trace), trace.update.view());
  if (step.kind == BlockKind::kResidualPostNorm) {
    trace.normed.resize(tokens.rows, tokens.cols);
    normalize<T>(step.rule, step.norm, trace.update, trace.normed);
    return add_update<T>(step, trace.normed, tokens);
  }
  add_update<T>(step, trace.update, tokens);
  if (step.kind != BlockKind::kPostNorm) return;
  trace.normed.resize(tokens.rows, tokens.cols);
  copy<T>(tokens, trace.normed);
  normalize<T>(step.rule, step.norm, trace.normed, tokens);
}

/// Where a step's own gradients go.
template <typename T>
struct StepGradients {
  const NormPart<T>& norm;
  std::span<T> scale;
};

/// `incoming` to the update's gradient and, through f_back(in, dupdate, din), to what is added to
/// `gradient`; in a post-norm block `incoming` is `gradient`.
template <typename T, typename F>
void step_backward(const Step<T>& step, const StepTrace<T>& trace,
                   const StepGradients<T>& gradients, BlockScratch<T>& scratch, const F& f_back) {
  const View<T> incoming = scratch.incoming;
  if (step.kind == BlockKind::kPostNorm)
    normalize_back<T>(step.rule, step.norm, trace.normed, incoming, gradients.norm);
  scratch.update.resize(incoming.rows, incoming.cols);
  scratch.in.resize(incoming.rows, incoming.cols);
  const bool norm_after_f = step.kind == BlockKind::kResidualPostNorm;
  const Numbers<T>& added = norm_after_f ? trace.normed : trace.update;
  add_update_back<T>(step, added, incoming, gradients.scale, scratch.update);
  if (norm_after_f)
    normalize_back<T>(step.rule, step.norm, trace.update, scratch.update, gradients.norm);
  f_back(input_of(step, trace), scratch.update.view(), scratch.in.view());
  if (norm_comes_first(step.kind))
    normalize_back<T>(step.rule, step.norm, trace.x, scratch.in, gradients.norm);
}

template <typename T>
void keep(ConstView<T> tokens, Numbers<T>& kept) {
  kept.resize(tokens.rows, tokens.cols);
  copy<T>(tokens, kept);
}

template <typename T>
Step<T> attention_step(const BlockRule& rule, const BranchPart<const T>& part,
                       const PathScale<T>& paths) {
  return {rule.kind, rule.norm, part.norm1, part.scale1, paths.attention};
}

template <typename T>
Step<T> mlp_step(const BlockRule& rule, const BranchPart<const T>& part,
                 const PathScale<T>& paths) {
  return {rule.kind, rule.norm, part.norm2, part.scale2, paths.mlp};
}

template <typename T>
AttentionBack<T> attention_back(const BlockBack<T>& back, size_t branch) {
  return {.part = back.part.branches[branch].attention,
          .gradients = back.gradients.branches[branch].attention,
          .trace = back.trace.branches[branch].attention,
          .scratch = back.scratch.attention,
          .hook = back.hook,
          .layer = back.layer,
          .branch = branch};
}

template <typename T>
MlpBack<T> mlp_back(const BlockBack<T>& back, size_t branch) {
  return {.part = back.part.branches[branch].mlp,
          .gradients = back.gradients.branches[branch].mlp,
          .trace = back.trace.branches[branch].mlp,
          .scratch = back.scratch.mlp};
}

template <typename T>
void forward_parallel(const BlockRule& rule, const BranchPart<const T>& part,
                      const PathScale<T>& paths, BranchTrace<T>& trace, View<T> tokens) {
  keep<T>(tokens, trace.attention_step.x);
  step_forward<T>(attention_step(rule, part, paths), trace.attention_step, tokens,
                  [&](ConstView<T> in, View<T> update) {
                    attend<T>(rule.attention, part.attention, in, trace.attention, update);
                    Numbers<T>& second = trace.mlp_step.update;
                    second.resize(update.rows, update.cols);
                    feed_forward<T>(rule.mlp, part.mlp, in, trace.mlp, second);
                    add<T>(second.view(), update);
                  });
}

template <typename T>
void backward_parallel(const BlockRule& rule, const BlockBack<T>& back, View<T> gradient) {
  const BranchPart<T>& gradients = back.gradients.branches.front();
  keep<T>(gradient, back.scratch.incoming);
  step_backward<T>(attention_step(rule, back.part.branches.front(), back.paths),
                   back.trace.branches.front().attention_step, {gradients.norm1, gradients.scale1},
                   back.scratch, [&](ConstView<T> in, ConstView<T> dupdate, View<T> din) {
                     attend_back<T>(rule.attention, attention_back(back, 0), dupdate, {in, din});
                     feed_forward_back<T>(rule.mlp, mlp_back(back, 0), dupdate, {in, din, true});
                   });
  add<T>(back.scratch.in.view(), gradient);
}

/// What flows around f: in a post-norm block all of it went through the norm first.
template <typename T>
void keep_residual(const BlockRule& rule, BlockScratch<T>& scratch, View<T> gradient) {
  if (rule.kind == BlockKind::kPostNorm) copy<T>(scratch.incoming.view(), gradient);
  add<T>(scratch.in.view(), gradient);
}

}  // namespace

template <typename T>
void forward(const BlockRule& rule, const BlockPart<const T>& part, const PathScale<T>& paths,
             BlockTrace<T>& trace, View<T> tokens) {
  const size_t branches = part.branches.size();
  trace.branches.resize(branches);
  if (rule.kind == BlockKind::kParallel)
    return forward_parallel<T>(rule, part.branches.front(), paths, trace.branches.front(), tokens);
  for (BranchTrace<T>& branch : trace.branches) keep<T>(tokens, branch.attention_step.x);
  for (size_t i = 0; i < branches; ++i)
    step_forward<T>(attention_step(rule, part.branches[i], paths), trace.branches[i].attention_step,
                    tokens, [&](ConstView<T> in, View<T> update) {
                      attend<T>(rule.attention, part.branches[i].attention, in,
                                trace.branches[i].attention, update);
                    });
  for (BranchTrace<T>& branch : trace.branches) keep<T>(tokens, branch.mlp_step.x);
  for (size_t i = 0; i < branches; ++i)
    step_forward<T>(mlp_step(rule, part.branches[i], paths), trace.branches[i].mlp_step, tokens,
                    [&](ConstView<T> in, View<T> update) {
                      feed_forward<T>(rule.mlp, part.branches[i].mlp, in, trace.branches[i].mlp,
                                      update);
                    });
}

template <typename T>
void backward(const BlockRule& rule, const BlockBack<T>& back, View<T> gradient) {
  if (rule.kind == BlockKind::kParallel) return backward_parallel<T>(rule, back, gradient);
  const size_t branches = back.part.branches.size();
  BlockScratch<T>& scratch = back.scratch;
  keep<T>(gradient, scratch.incoming);
  for (size_t i = 0; i < branches; ++i) {
    const BranchPart<T>& gradients = back.gradients.branches[i];
    step_backward<T>(mlp_step(rule, back.part.branches[i], back.paths),
                     back.trace.branches[i].mlp_step, {gradients.norm2, gradients.scale2}, scratch,
                     [&](ConstView<T> in, ConstView<T> dupdate, View<T> din) {
                       feed_forward_back<T>(rule.mlp, mlp_back(back, i), dupdate, {in, din});
                     });
    keep_residual<T>(rule, scratch, gradient);
  }
  keep<T>(gradient, scratch.incoming);
  for (size_t i = 0; i < branches; ++i) {
    const BranchPart<T>& gradients = back.gradients.branches[i];
    step_backward<T>(attention_step(rule, back.part.branches[i], back.paths),
                     back.trace.branches[i].attention_step, {gradients.norm1, gradients.scale1},
                     scratch, [&](ConstView<T> in, ConstView<T> dupdate, View<T> din) {
                       attend_back<T>(rule.attention, attention_back(back, i), dupdate, {in, din});
                     });
    keep_residual<T>(rule, scratch, gradient);
  }
}

template void forward(const BlockRule&, const BlockPart<const float>&, const PathScale<float>&,
                      BlockTrace<float>&, View<float>);
template void forward(const BlockRule&, const BlockPart<const double>&, const PathScale<double>&,
                      BlockTrace<double>&, View<double>);
template void backward(const BlockRule&, const BlockBack<float>&, View<float>);
template void backward(const BlockRule&, const BlockBack<double>&, View<double>);

}  // namespace vit::gradient
