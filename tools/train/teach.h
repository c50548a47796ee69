/// A teacher's answers to the training images: from a file that holds them, or from the teacher.
#pragma once

#include <optional>

#include "tools/train/settings.h"

namespace vit::tools {

/// Nothing where no teacher is wanted. The settings' recipe and augmentation must be final: they
/// decide what a teacher is shown. Throws an Error if the teacher lacks a class of the data.
std::optional<train::Teaching> ask_teacher(const TrainSettings& settings,
                                           const data::Dataset& dataset, ThreadPool& pool);

}  // namespace vit::tools
