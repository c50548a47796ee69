#include "vit/gradient/block.h"

namespace vit::gradient {
namespace {

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

/// What the branches of a step read while each adds to `gradient`.
template <typename T>
ConstView<T> incoming(const Block<T>& block, View<T> gradient, GrowingMatrix<T>& copied) {
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
                       View<T> gradient, const HookAt<T>& hook) {
  const BranchPart<T>& part = block.branches.front();
  step_backward<T>(
      attention_step(block, 0), kept.attention_step, d.attention_step, {gradient, gradient},
      [&](ConstView<T> in, ConstView<T> dupdate, View<T> din) {
        attend_back<T>(part.attention, kept.attention, d.attention, {dupdate, in, din}, hook);
        feed_forward_back<T>(part.mlp, kept.mlp, d.mlp, {dupdate, in, din, true});
      });
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
              BranchActivations<T>& d, View<T> gradient, const HookAt<T>& hook) {
  if (block.kind == BlockKind::kParallel)
    return backward_parallel<T>(block, kept.front(), d, gradient, hook);
  ConstView<T> dy = incoming(block, gradient, d.mlp_step.x);
  for (size_t i = 0; i < kept.size(); ++i)
    step_backward<T>(
        mlp_step(block, i), kept[i].mlp_step, d.mlp_step, {dy, gradient},
        [&](ConstView<T> in, ConstView<T> dupdate, View<T> din) {
          feed_forward_back<T>(block.branches[i].mlp, kept[i].mlp, d.mlp, {dupdate, in, din});
        });
  dy = incoming(block, gradient, d.attention_step.x);
  for (size_t i = 0; i < kept.size(); ++i)
    step_backward<T>(attention_step(block, i), kept[i].attention_step, d.attention_step,
                     {dy, gradient}, [&](ConstView<T> in, ConstView<T> dupdate, View<T> din) {
                       attend_back<T>(block.branches[i].attention, kept[i].attention, d.attention,
                                      {dupdate, in, din}, hook.of_branch(i));
                     });
}

template void forward(const Block<float>&, std::vector<BranchActivations<float>>&, View<float>);
template void forward(const Block<double>&, std::vector<BranchActivations<double>>&, View<double>);
template void backward(const Block<float>&, std::vector<BranchActivations<float>>&,
                       BranchActivations<float>&, View<float>, const HookAt<float>&);
template void backward(const Block<double>&, std::vector<BranchActivations<double>>&,
                       BranchActivations<double>&, View<double>, const HookAt<double>&);

}  // namespace vit::gradient
