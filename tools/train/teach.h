/// A teacher's answers to the training images, read from a file or computed.
#pragma once

#include <optional>

#include "tools/train/settings.h"

namespace vit::tools {

/// None without a teacher. The recipe must be final: it affects the teacher's crops. Throws an
/// Error if the teacher lacks a class of the data.
std::optional<train::Teaching> ask_teacher(const TrainSettings& settings,
                                           const train::BatchSource& source, ThreadPool& pool);

}  // namespace vit::tools
