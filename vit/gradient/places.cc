#include "vit/gradient/places.h"

#include <cmath>
#include <vector>

#include "vit/encoder/relative_bias.h"
#include "vit/encoder/rotary.h"

namespace vit::gradient {
namespace {

/// Tokens of one image.
struct Places {
  size_t prefix;
  GridSize grid;
  KeptPatches kept;

  size_t patch(size_t token) const { return kept.empty() ? token - prefix : kept[token - prefix]; }
  /// Row of a bias table, by the offset from key to query; none: this pair has no bias.
  size_t bias_row(size_t query, size_t key, size_t rows) const {
    const size_t cols = 2 * grid.cols - 1, offsets = (2 * grid.rows - 1) * cols;
    if (query < prefix || key < prefix)
      return rows == offsets ? rows : offsets + (query >= prefix ? 1 : key >= prefix ? 0 : 2);
    const size_t a = patch(query), b = patch(key);
    return (a / grid.cols + grid.rows - 1 - b / grid.cols) * cols + a % grid.cols + grid.cols - 1 -
           b % grid.cols;
  }
};

template <typename T>
void add_numbers(ConstView<T> x, View<T> y) {
  for (size_t r = 0; r < x.rows; ++r)
    for (size_t c = 0; c < x.cols; ++c) y(r, c) += x(r, c);
}

template <typename T>
Places places_of(const PlacesPart<T>& part, KeptPatches kept) {
  return {part.prefix, part.grid, kept};
}

/// Both coordinates of a patch, in the order of the frequencies.
template <typename T>
std::pair<T, T> coordinates(const PlacesPart<T>& part, size_t patch) {
  const auto y = static_cast<T>(patch / part.grid.cols), x = static_cast<T>(patch % part.grid.cols);
  return part.rotary.columns_first ? std::pair{x, y} : std::pair{y, x};
}

template <typename T>
void fill_angles(const PlacesPart<T>& part, GrowingMatrix<T>& angles) {
  const size_t half = part.head_width / 2, patches = part.grid.count();
  if (part.rotary.kind != RotaryKind::kLearned) {
    std::vector<float> periods;
    for (size_t i = 0; i < part.periods.value.cols; ++i)
      periods.push_back(static_cast<float>(part.periods.value(0, i)));
    const std::vector<double> fixed =
        rotary_angles(part.rotary, part.grid, part.head_width, periods);
    angles.resize(patches, half);
    for (size_t i = 0; i < fixed.size(); ++i)
      angles.view()(i / half, i % half) = static_cast<T>(fixed[i]);
    return;
  }
  angles.resize(part.heads * patches, half);
  for (size_t row = 0; row < angles.rows(); ++row) {
    const auto [a, b] = coordinates(part, row % patches);
    for (size_t m = 0; m < half; ++m) {
      const size_t at = row / patches * half + m;
      angles.view()(row, m) = a * part.first.value(0, at) + b * part.second.value(0, at);
    }
  }
}

/// relu(expand(coordinates)), [offsets, hidden]
template <typename T>
void expand(const PlacesPart<T>& part, const RelativeBiasPart<T>& bias, View<T> hidden) {
  const Matrix coordinates = relative_coordinates(part.bias.kind, part.grid);
  const auto weight = bias.expand.weight.value;
  for (size_t i = 0; i < hidden.rows; ++i)
    for (size_t j = 0; j < hidden.cols; ++j)
      hidden(i, j) = std::max(T{0}, weight(j, 0) * static_cast<T>(coordinates(i, 0)) +
                                        weight(j, 1) * static_cast<T>(coordinates(i, 1)) +
                                        bias.expand.bias.value(0, j));
}

template <typename T>
constexpr T kSwinFactor = T{16};

/// The numbers of a head that an MLP gives, before they are added to those of another.
template <typename T>
T contracted(const PlacesPart<T>& part, const RelativeBiasPart<T>& bias, ConstView<T> hidden,
             size_t row, size_t head) {
  T sum = bias.contract.bias.empty() ? T{0} : bias.contract.bias.value(0, head);
  for (size_t j = 0; j < hidden.cols; ++j)
    sum += hidden(row, j) * bias.contract.weight.value(head, j);
  return part.bias.kind == RelativeBiasKind::kSwinMlp ? kSwinFactor<T> / (T{1} + std::exp(-sum))
                                                      : sum;
}

/// Own and shared bias, with the rows of `hidden` that belong to each.
template <typename T, typename Use>
void for_each_bias(const PlacesPart<T>& part, const Use& use) {
  size_t index = 0;
  for (const RelativeBiasPart<T>* bias : {&part.own, &part.shared})
    if (!bias->empty()) use(*bias, index++);
}

template <typename T>
void fill_bias(const PlacesPart<T>& part, PlaceActivations<T>& kept) {
  const size_t offsets = (2 * part.grid.rows - 1) * (2 * part.grid.cols - 1);
  kept.bias.resize(offsets + (part.bias.class_rows ? 3 : 0), part.heads);
  kept.bias.fill(T{0});
  if (part.bias.kind != RelativeBiasKind::kTable) kept.hidden.resize(2 * offsets, part.bias.hidden);
  for_each_bias(part, [&](const RelativeBiasPart<T>& bias, size_t index) {
    if (part.bias.kind == RelativeBiasKind::kTable)
      return add_numbers<T>(bias.table.value, kept.bias.view());
    const View<T> hidden = kept.hidden.view().row_range(index * offsets, offsets);
    expand<T>(part, bias, hidden);
    for (size_t i = 0; i < offsets; ++i)
      for (size_t h = 0; h < part.heads; ++h)
        kept.bias.view()(i, h) += contracted<T>(part, bias, hidden, i, h);
  });
}

/// dbias [offsets, H] to the gradients of one MLP.
template <typename T>
void mlp_back(const PlacesPart<T>& part, const RelativeBiasPart<T>& bias, ConstView<T> hidden,
              ConstView<T> dbias) {
  const Matrix coordinates = relative_coordinates(part.bias.kind, part.grid);
  for (size_t i = 0; i < hidden.rows; ++i)
    for (size_t h = 0; h < part.heads; ++h) {
      T d = dbias(i, h);
      if (part.bias.kind == RelativeBiasKind::kSwinMlp) {
        const T y = contracted<T>(part, bias, hidden, i, h);
        d *= y * (T{1} - y / kSwinFactor<T>);
      }
      if (!bias.contract.bias.empty()) bias.contract.bias.gradient(0, h) += d;
      for (size_t j = 0; j < hidden.cols; ++j) {
        if (hidden(i, j) <= T{0}) continue;
        bias.contract.weight.gradient(h, j) += d * hidden(i, j);
        const T dj = d * bias.contract.weight.value(h, j);
        bias.expand.weight.gradient(j, 0) += dj * static_cast<T>(coordinates(i, 0));
        bias.expand.weight.gradient(j, 1) += dj * static_cast<T>(coordinates(i, 1));
        bias.expand.bias.gradient(0, j) += dj;
      }
    }
}

/// Calls use(row of the tables, index m of the angle, first, second) for every pair of x's numbers.
template <typename T, typename Use>
void for_each_pair(const PlacesPart<T>& part, const PlaceActivations<T>& kept, KeptPatches patches,
                   const BasicMatrixView<T>& x, const Use& use) {
  const size_t d = part.head_width, half = d / 2, all = part.grid.count();
  const bool split = part.rotary.split_halves, per_head = kept.cosines.rows() != all;
  const Places places = places_of(part, patches);
  for (size_t token = part.prefix; token < x.rows; ++token)
    for (size_t h = 0; h < x.cols / d; ++h) {
      const size_t row = (per_head ? h * all : 0) + places.patch(token);
      for (size_t m = 0; m < half; ++m) {
        const size_t first = h * d + (split ? m : 2 * m);
        use(row, m, token, std::pair{first, first + (split ? half : 1)});
      }
    }
}

}  // namespace

template <typename T>
void prepare(const PlacesPart<T>& part, PlaceActivations<T>& kept) {
  if (part.rotates()) {
    fill_angles<T>(part, kept.angles);
    kept.cosines.resize(kept.angles.rows(), kept.angles.cols());
    kept.sines.resize(kept.angles.rows(), kept.angles.cols());
    for (size_t r = 0; r < kept.angles.rows(); ++r)
      for (size_t m = 0; m < kept.angles.cols(); ++m) {
        kept.cosines.view()(r, m) = std::cos(kept.angles.view()(r, m));
        kept.sines.view()(r, m) = std::sin(kept.angles.view()(r, m));
      }
  }
  if (part.biased()) fill_bias<T>(part, kept);
}

template <typename T>
void rotate(const PlacesPart<T>& part, const PlaceActivations<T>& kept, KeptPatches patches,
            View<T> x) {
  const ConstView<T> cosines = kept.cosines, sines = kept.sines;
  for_each_pair<T>(part, kept, patches, x, [&](size_t row, size_t m, size_t token, auto pair) {
    T &a = x(token, pair.first), &b = x(token, pair.second);
    const T old = a, c = cosines(row, m), s = sines(row, m);
    a = old * c - b * s;
    b = b * c + old * s;
  });
}

template <typename T>
void rotate_back(const PlacesPart<T>& part, const PlaceActivations<T>& kept, KeptPatches patches,
                 ConstView<T> x, View<T> dx, PlaceActivations<T>& d) {
  const ConstView<T> cosines = kept.cosines, sines = kept.sines;
  const bool learned = !part.first.gradient.empty();
  for_each_pair<T>(part, kept, patches, dx, [&](size_t row, size_t m, size_t token, auto pair) {
    T &da = dx(token, pair.first), &db = dx(token, pair.second);
    if (learned) d.angles.view()(row, m) += db * x(token, pair.first) - da * x(token, pair.second);
    const T old = da, c = cosines(row, m), s = sines(row, m);
    da = old * c + db * s;
    db = db * c - old * s;
  });
}

/// Calls use(row of the bias, head, query, key) for every pair of tokens that has a bias.
template <typename T, typename Use>
void visit_bias(const PlacesPart<T>& part, KeptPatches patches, ConstView<T> bias, size_t tokens,
                const Use& use) {
  const Places places = places_of(part, patches);
  for (size_t q = 0; q < tokens; ++q)
    for (size_t k = 0; k < tokens; ++k) {
      const size_t row = places.bias_row(q, k, bias.rows);
      for (size_t h = 0; row < bias.rows && h < part.heads; ++h) use(row, h, q, k);
    }
}

template <typename T>
void add_bias(const PlacesPart<T>& part, const PlaceActivations<T>& kept, KeptPatches patches,
              T factor, View<T> scores) {
  const ConstView<T> bias = kept.bias;
  visit_bias<T>(part, patches, bias, scores.cols, [&](size_t row, size_t h, size_t q, size_t k) {
    scores(h * scores.cols + q, k) += factor * bias(row, h);
  });
}

template <typename T>
void add_bias_back(const PlacesPart<T>& part, KeptPatches patches, T factor, ConstView<T> dscores,
                   PlaceActivations<T>& d) {
  const View<T> dbias = d.bias;
  visit_bias<T>(part, patches, dbias, dscores.cols, [&](size_t row, size_t h, size_t q, size_t k) {
    dbias(row, h) += factor * dscores(h * dscores.cols + q, k);
  });
}

template <typename T>
void clear(const PlaceActivations<T>& kept, PlaceActivations<T>& d) {
  d.angles.resize(kept.angles.rows(), kept.angles.cols());
  d.angles.fill(T{0});
  d.bias.resize(kept.bias.rows(), kept.bias.cols());
  d.bias.fill(T{0});
}

template <typename T>
void prepare_back(const PlacesPart<T>& part, const PlaceActivations<T>& kept,
                  PlaceActivations<T>& d) {
  const size_t half = part.head_width / 2, patches = part.grid.count();
  for (size_t row = 0; !part.first.gradient.empty() && row < d.angles.rows(); ++row) {
    const auto [a, b] = coordinates(part, row % patches);
    for (size_t m = 0; m < half; ++m) {
      const size_t at = row / patches * half + m;
      part.first.gradient(0, at) += a * d.angles.view()(row, m);
      part.second.gradient(0, at) += b * d.angles.view()(row, m);
    }
  }
  const ConstView<T> hidden = kept.hidden;
  for_each_bias(part, [&](const RelativeBiasPart<T>& bias, size_t index) {
    if (!bias.table.gradient.empty()) add_numbers<T>(d.bias.view(), bias.table.gradient);
    if (bias.expand.weight.gradient.empty()) return;
    const size_t offsets = hidden.rows / 2;
    mlp_back<T>(part, bias, hidden.row_range(index * offsets, offsets), d.bias.view());
  });
}

template void prepare(const PlacesPart<float>&, PlaceActivations<float>&);
template void prepare(const PlacesPart<double>&, PlaceActivations<double>&);
template void rotate(const PlacesPart<float>&, const PlaceActivations<float>&, KeptPatches,
                     View<float>);
template void rotate(const PlacesPart<double>&, const PlaceActivations<double>&, KeptPatches,
                     View<double>);
template void rotate_back(const PlacesPart<float>&, const PlaceActivations<float>&, KeptPatches,
                          ConstView<float>, View<float>, PlaceActivations<float>&);
template void rotate_back(const PlacesPart<double>&, const PlaceActivations<double>&, KeptPatches,
                          ConstView<double>, View<double>, PlaceActivations<double>&);
template void add_bias(const PlacesPart<float>&, const PlaceActivations<float>&, KeptPatches, float,
                       View<float>);
template void add_bias(const PlacesPart<double>&, const PlaceActivations<double>&, KeptPatches,
                       double, View<double>);
template void add_bias_back(const PlacesPart<float>&, KeptPatches, float, ConstView<float>,
                            PlaceActivations<float>&);
template void add_bias_back(const PlacesPart<double>&, KeptPatches, double, ConstView<double>,
                            PlaceActivations<double>&);
template void clear(const PlaceActivations<float>&, PlaceActivations<float>&);
template void clear(const PlaceActivations<double>&, PlaceActivations<double>&);
template void prepare_back(const PlacesPart<float>&, const PlaceActivations<float>&,
                           PlaceActivations<float>&);
template void prepare_back(const PlacesPart<double>&, const PlaceActivations<double>&,
                           PlaceActivations<double>&);

}  // namespace vit::gradient
