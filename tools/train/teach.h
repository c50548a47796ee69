/// A teacher's answers to the training images, read from a file or computed.
#pragma once

#include <optional>

#include "tools/train/settings.h"

namespace vit::tools {

/// None without a teacher. The settings' recipe and augmentation must be final: they
/// affect the teacher's inputs. Throws an Error if the teacher lacks a class of the data.
std::optional<train::Teaching> ask_teacher(const TrainSettings& settings,
                                           const data::Dataset& dataset, ThreadPool& pool);

}  // namespace vit::tools
