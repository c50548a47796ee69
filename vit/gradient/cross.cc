#include "vit/gradient/cross.h"

namespace vit::gradient {
namespace {

/// One image: its own keys and values; its own query or the one that all images share.
template <typename T>
Heads<T> heads_of(const CrossPart<T>& part, CrossActivations<T>& kept, View<T> probabilities,
                  size_t image) {
  const size_t rows = kept.key_value.rows() / kept.context.rows(),
               width = kept.key_value.cols() / 2;
  const View<T> read =
      kept.key_value.view().row_range(image * rows + part.first_key, rows - part.first_key);
  return {.queries = kept.query.view().row_range(kept.query.rows() == 1 ? 0 : image, 1),
          .keys = read.col_range(0, width),
          .values = read.col_range(width, width),
          .probabilities = probabilities,
          .heads = part.heads,
          .operands = part.operands,
          .isa = part.query.isa};
}

template <typename T>
View<T> of_image(const CrossPart<T>& part, GrowingMatrix<T>& probabilities, size_t image) {
  return probabilities.view().row_range(image * part.heads, part.heads);
}

/// d.context to d.query and d.key_value.
template <typename T>
void weigh_images_back(const CrossPart<T>& part, CrossActivations<T>& kept, CrossActivations<T>& d,
                       const HookAt<T>& hook) {
  const size_t images = kept.context.rows();
  d.query.resize(images, kept.query.cols());
  d.key_value.resize(kept.key_value.rows(), kept.key_value.cols());
  if (part.first_key > 0) d.key_value.fill(T{0});  // rows that nothing reads
  d.probabilities.resize(part.heads, kept.probabilities.cols());
  for (size_t image = 0; image < images; ++image) {
    const Heads<T> x = heads_of<T>(part, kept, of_image(part, kept.probabilities, image), image);
    const Heads<T> dx = heads_of<T>(part, d, d.probabilities, image);
    weigh_back<T>(x, d.context.view().row_range(image, 1), dx);
    hook(image, x.probabilities, dx.probabilities);
    score_back<T>(x, dx);
  }
}

}  // namespace

template <typename T>
void cross_attend(const CrossPart<T>& part, const CrossInputs<T>& in, CrossActivations<T>& kept,
                  View<T> y, bool accumulate) {
  const size_t images = y.rows, width = in.queries.cols;
  kept.query.resize(in.queries.rows, width);
  linear<T>(part.query, in.queries, kept.query);
  kept.key_value.resize(in.memory.rows, 2 * width);
  linear<T>(part.key_value, in.memory, kept.key_value);
  kept.probabilities.resize(images * part.heads, in.memory.rows / images - part.first_key);
  kept.context.resize(images, width);
  for (size_t image = 0; image < images; ++image)
    weigh<T>(heads_of<T>(part, kept, of_image(part, kept.probabilities, image), image),
             kept.context.view().row_range(image, 1));
  linear<T>(part.project, kept.context, y, accumulate);
}

template <typename T>
void cross_attend_back(const CrossPart<T>& part, CrossActivations<T>& kept, CrossActivations<T>& d,
                       const CrossBack<T>& back, const HookAt<T>& hook) {
  d.context.resize(kept.context.rows(), kept.context.cols());
  linear_back<T>(part.project, {back.dy, kept.context, d.context});
  weigh_images_back(part, kept, d, hook);
  linear_back<T>(part.key_value, {d.key_value, back.in.memory, back.dmemory, back.accumulate});
  if (back.in.queries.rows == d.query.rows())
    return linear_back<T>(part.query, {d.query, back.in.queries, back.dqueries, back.accumulate});
  GrowingMatrix<T> shared(1, d.query.cols());
  shared.fill(T{0});
  add_column_sums<T>(d.query, shared, part.query.isa);
  linear_back<T>(part.query, {shared, back.in.queries, back.dqueries, back.accumulate});
}

template void cross_attend(const CrossPart<float>&, const CrossInputs<float>&,
                           CrossActivations<float>&, View<float>, bool);
template void cross_attend(const CrossPart<double>&, const CrossInputs<double>&,
                           CrossActivations<double>&, View<double>, bool);
template void cross_attend_back(const CrossPart<float>&, CrossActivations<float>&,
                                CrossActivations<float>&, const CrossBack<float>&,
                                const HookAt<float>&);
template void cross_attend_back(const CrossPart<double>&, CrossActivations<double>&,
                                CrossActivations<double>&, const CrossBack<double>&,
                                const HookAt<double>&);

}  // namespace vit::gradient
