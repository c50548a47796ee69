/// The numbers that training starts from.
#pragma once

#include <cstdint>

#include "vit/base/enum_names.h"
#include "vit/gradient/network.h"

namespace vit::train {

/// The numbers of the enumerators are part of the fingerprints of runs.
enum class Start {
  kPlain,  ///< truncated normals of 0.02, as the ViT paper and timm have them
  /// Mimetic initialisation (Trockman and Kolter 2023): queries and keys start alike, values and
  /// the projection cancel the residual a little, positions start as sines. A small model on little
  /// data learns much faster from there.
  kMimetic,
};
constexpr auto enum_names(Start) {
  using enum Start;
  return std::to_array<EnumName<Start>>({{kMimetic, "mimetic"}, {kPlain, "plain"}});
}

void initialize(gradient::Network<float>& network, std::uint64_t seed, Start start);

/// A new classifier for other classes; all else is kept. The head is small random numbers.
gradient::Network<float> with_new_head(const gradient::Network<float>& network, size_t classes,
                                       std::uint64_t seed);

/// The numbers that learn in a network with adapters: its classifier, and matrices that change
/// nothing yet.
std::vector<float> start_low_rank(const gradient::LowRankLayout& layout,
                                  const gradient::Network<float>& network, std::uint64_t seed);

}  // namespace vit::train
