/// The kinds of weight files.
#pragma once

#include "vit/base/enum_names.h"

namespace vit::weights {

enum class WeightFormat {
  kSafetensors,
  kShardedSafetensors,
  kPyTorchZip,
  kLegacyPyTorch,
  kNpz,
  kGguf,
  kGgml
};

/// For people.
constexpr auto enum_names(WeightFormat) {
  using enum WeightFormat;
  return std::to_array<EnumName<WeightFormat>>({{kSafetensors, "safetensors"},
                                                {kShardedSafetensors, "safetensors, sharded"},
                                                {kPyTorchZip, "PyTorch zip"},
                                                {kLegacyPyTorch, "PyTorch, before 1.6"},
                                                {kNpz, "NumPy npz"},
                                                {kGguf, "GGUF"},
                                                {kGgml, "ggml of vit.cpp"}});
}

/// Whether two tensors of such a file may share their bytes. Those of safetensors tile its data.
constexpr bool may_share_bytes(WeightFormat format) {
  return format != WeightFormat::kSafetensors && format != WeightFormat::kShardedSafetensors;
}

}  // namespace vit::weights
