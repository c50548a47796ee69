#include "vit/gradient/class_layers.h"

namespace vit::gradient {
namespace {

template <typename T>
Step<T> attention_step(const ClassLayerPart<T>& part) {
  return {BlockKind::kPreNorm, part.norm1, part.scale1, {}};
}

template <typename T>
Step<T> mlp_step(const ClassLayerPart<T>& part) {
  return {BlockKind::kPreNorm, part.norm2, part.scale2, {}};
}

/// Calls both(token, patches, joined) with the rows of each image.
template <typename T, typename E, typename F>
void for_each_image(BasicMatrixView<E> tokens, BasicMatrixView<E> patches, View<T> joined,
                    const F& both) {
  const size_t n = patches.rows / tokens.rows;
  for (size_t image = 0; image < tokens.rows; ++image)
    both(tokens.row_range(image, 1), patches.row_range(image * n, n),
         joined.row_range(image * (1 + n), 1 + n));
}

/// `in`: the class tokens [B, D], normed.
template <typename T>
void attend(const ClassLayerPart<T>& part, ConstView<T> in, ConstView<T> patches,
            ClassLayerActivations<T>& kept, View<T> y, bool accumulate) {
  const size_t images = in.rows, width = in.cols, keys = 1 + patches.rows / images;
  kept.patches.resize(patches.rows, width);
  normalize<T>(part.norm1, patches, kept.patches);
  kept.memory.resize(images * keys, width);
  for_each_image<T>(in, ConstView<T>(kept.patches), kept.memory.view(),
                    [](ConstView<T> token, ConstView<T> own, View<T> joined) {
                      copy<T>(token, joined.row_range(0, 1));
                      copy<T>(own, joined.row_range(1, own.rows));
                    });
  cross_attend<T>(part.attention, {in, kept.memory}, kept.attention, y, accumulate);
}

/// The gradient at y to `din` and to what is added to back.dpatches.
template <typename T>
void attend_back(const ClassLayerPart<T>& part, ClassLayerActivations<T>& kept,
                 ClassLayerActivations<T>& d, const Back<T>& step, const ReadBack<T>& back,
                 const HookAt<T>& hook) {
  d.memory.resize(kept.memory.rows(), kept.memory.cols());
  cross_attend_back<T>(
      part.attention, kept.attention, d.attention,
      {.dy = step.dy, .in = {step.x, kept.memory}, .dqueries = step.dx, .dmemory = d.memory}, hook);
  d.patches.resize(back.patches.rows, back.patches.cols);
  for_each_image<T>(step.dx, d.patches.view(), d.memory.view(),
                    [&](View<T> dtoken, View<T> own, View<T> joined) {
                      add<T>(joined.row_range(0, 1), dtoken, part.norm1.isa);
                      copy<T>(ConstView<T>(joined.row_range(1, own.rows)), own);
                    });
  normalize_back<T>(part.norm1, back.patches, d.patches);
  add<T>(d.patches.view(), back.dpatches, part.norm1.isa);
}

}  // namespace

template <typename T>
void read_patches(const HeadPart<T>& part, ConstView<T> patches, ClassLayersActivations<T>& kept,
                  View<T> tokens) {
  for (size_t image = 0; image < tokens.rows; ++image)
    copy<T>(part.class_token.value, tokens.row_range(image, 1));
  kept.resize(part.class_layers.size());
  for (size_t i = 0; i < kept.size(); ++i) {
    const ClassLayerPart<T>& layer = part.class_layers[i];
    keep<T>(tokens, kept[i].attention_step.x);
    step_forward<T>(attention_step(layer), kept[i].attention_step, tokens,
                    [&](ConstView<T> in, View<T> y, bool accumulate) {
                      attend<T>(layer, in, patches, kept[i], y, accumulate);
                    });
    keep<T>(tokens, kept[i].mlp_step.x);
    step_forward<T>(mlp_step(layer), kept[i].mlp_step, tokens,
                    [&](ConstView<T> in, View<T> y, bool accumulate) {
                      feed_forward<T>(layer.mlp, in, kept[i].mlp, y, accumulate);
                    });
  }
}

template <typename T>
void read_patches_back(const HeadPart<T>& part, ClassLayersActivations<T>& kept,
                       ClassLayerActivations<T>& d, const ReadBack<T>& back,
                       const AttentionHook<T>& hook) {
  const View<T> dtokens = back.dtokens;
  for (size_t i = kept.size(); i-- > 0;) {
    const ClassLayerPart<T>& layer = part.class_layers[i];
    step_backward<T>(mlp_step(layer), kept[i].mlp_step, d.mlp_step, {dtokens, dtokens},
                     [&](ConstView<T> in, ConstView<T> dupdate, View<T> din) {
                       feed_forward_back<T>(layer.mlp, kept[i].mlp, d.mlp, {dupdate, in, din});
                     });
    step_backward<T>(attention_step(layer), kept[i].attention_step, d.attention_step,
                     {dtokens, dtokens}, [&](ConstView<T> in, ConstView<T> dupdate, View<T> din) {
                       attend_back<T>(layer, kept[i], d, {dupdate, in, din}, back, {hook, i});
                     });
  }
  const View<T> dtoken = part.class_token.gradient;
  if (!dtoken.empty()) add_column_sums<T>(dtokens, dtoken, part.classifier.isa);
}

template void read_patches(const HeadPart<float>&, ConstView<float>, ClassLayersActivations<float>&,
                           View<float>);
template void read_patches(const HeadPart<double>&, ConstView<double>,
                           ClassLayersActivations<double>&, View<double>);
template void read_patches_back(const HeadPart<float>&, ClassLayersActivations<float>&,
                                ClassLayerActivations<float>&, const ReadBack<float>&,
                                const AttentionHook<float>&);
template void read_patches_back(const HeadPart<double>&, ClassLayersActivations<double>&,
                                ClassLayerActivations<double>&, const ReadBack<double>&,
                                const AttentionHook<double>&);

}  // namespace vit::gradient
