/// The attention of all layers and heads as bytes.
#pragma once

#include <string>

#include "vit/interpret/attention_maps.h"

namespace vit::tools {

/// For programs, which shall need no library to read it: the maxima of the rows as float32, then a
/// byte per weight: 255 times the square root of its ratio to the maximum. No weight is off by more
/// than a 255th of the maximum.
std::string plain_attention(const interpret::AttentionMaps& maps);

/// For the page, less than half of its size in large models; unpack.js reads it. A zlib stream of
///
/// * 9 uint32, how many bytes each class of residuals below has;
/// * a row's unit, the upper half of a float32, for each row;
/// * the roots of the weights of the tokens before the patches, times kPrefixSteps, as uint16;
/// * the residuals. A patch's step is the root of its weight's ratio to the unit, times kRootSteps.
///   predicted() guesses it from what is already known; the residual is the difference, modulo 256.
///   Its class is the number of bits of the guess: large weights differ more than small ones, and
///   so residuals of one class deserve a code of their own.
///
/// A weight is off by at most a 70th of itself or, where it is smaller than its row's unit, of the
/// unit; the smaller, the less. Weights of the tokens before the patches are nearly exact.
std::string packed_attention(const interpret::AttentionMaps& maps);

inline constexpr int kRootSteps = 70;
inline constexpr int kPrefixSteps = 40'000;  ///< differential attention may exceed 1

}  // namespace vit::tools
