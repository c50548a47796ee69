/// What the scores of attention know of the tokens' places: rotary positions and relative position
/// bias, forward and backward.
#pragma once

#include <span>

#include "vit/gradient/linear.h"

namespace vit::gradient {

/// The numbers of one layer for one grid, and, of the backward pass, their gradients.
template <typename T>
struct PlaceActivations {
  GrowingMatrix<T> angles;   ///< [heads that differ · N, d / 2]
  GrowingMatrix<T> cosines;  ///< of the angles
  GrowingMatrix<T> sines;
  GrowingMatrix<T> bias;  ///< [offsets (+ 3 of the class token), H], in the order of a stored table
  GrowingMatrix<T> hidden;  ///< [offsets, hidden] of each MLP that the bias is made by, own first
};

/// One image: the index in the grid of each of its patches; empty: all, in order.
using KeptPatches = std::span<const size_t>;

/// Fills `kept` from the parameters.
template <typename T>
void prepare(const PlacesPart<T>& part, PlaceActivations<T>& kept);

/// Rotates the heads of one image's queries or keys, x [T, heads·d].
template <typename T>
void rotate(const PlacesPart<T>& part, const PlaceActivations<T>& kept, KeptPatches patches,
            View<T> x);
/// `dx`, the gradient at what rotate() gave, becomes that at what it read. `x` is what it gave.
template <typename T>
void rotate_back(const PlacesPart<T>& part, const PlaceActivations<T>& kept, KeptPatches patches,
                 ConstView<T> x, View<T> dx, PlaceActivations<T>& d);

/// scores [H·T, T] of one image += factor · bias.
template <typename T>
void add_bias(const PlacesPart<T>& part, const PlaceActivations<T>& kept, KeptPatches patches,
              T factor, View<T> scores);
/// d.bias += factor · dscores, at the offset of each pair of tokens.
template <typename T>
void add_bias_back(const PlacesPart<T>& part, KeptPatches patches, T factor, ConstView<T> dscores,
                   PlaceActivations<T>& d);

/// Zeros of the right shapes, which the functions above add to.
template <typename T>
void clear(const PlaceActivations<T>& kept, PlaceActivations<T>& d);
/// From the sums of all images to the gradients of the parameters.
template <typename T>
void prepare_back(const PlacesPart<T>& part, const PlaceActivations<T>& kept,
                  PlaceActivations<T>& d);

}  // namespace vit::gradient
