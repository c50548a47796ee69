/// A teacher's answers to the training images, read from a file or computed.
#pragma once

#include <cstdint>
#include <optional>

#include "tools/train/settings.h"

namespace vit::tools {

/// None without a teacher; a preview, which shows its crops alone, does not ask it. The recipe must
/// be final: it affects the teacher's crops. `data_fingerprint`: of the source's dataset. Throws an
/// Error if the teacher lacks a class of the data.
std::optional<train::Teaching> ask_teacher(const TrainSettings& settings,
                                           const train::BatchSource& source,
                                           std::uint64_t data_fingerprint, ThreadPool& pool);

}  // namespace vit::tools
