/// Where a training run is, in memory and in its checkpoint.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "vit/train/loss.h"
#include "vit/train/optimizer.h"

namespace vit::train {

/// One line of the log.
struct EpochRow {
  std::uint64_t epoch = 0;  ///< from 1 on, when finished
  double train_loss = 0.0;
  double train_accuracy = 0.0;
  double validation_loss = 0.0;
  double validation_accuracy = 0.0;
  double rate = 0.0;
  double seconds = 0.0;
};

/// All that a run is, besides data and settings. What is written to disk and read again continues
/// as if nothing had happened.
struct State {
  std::vector<float> numbers;
  std::vector<float> average;  ///< empty: none
  Moments moments;
  std::uint64_t epoch = 0;  ///< finished ones
  std::uint64_t step = 0;   ///< finished ones of the current epoch
  LossSum sum;              ///< of the current epoch
  std::uint64_t seen = 0;   ///< images of the current epoch
  double seconds = 0.0;     ///< of the current epoch
  std::vector<EpochRow> history;
  std::uint64_t first_compared = 0;  ///< epochs before it have no model file any more
  std::uint64_t fingerprint = 0;     ///< of model, data and settings

  explicit State(size_t size) : moments(size) {}
};

/// Written beside its place, synced and renamed: a full disk or a kill leaves the earlier one.
void save_state(const std::filesystem::path& path, const State& state);
/// Throws an Error if the file is damaged or belongs to a run with other settings. The sizes and
/// indices in it are the file's: Trainer::restore() checks that they fit.
State load_state(const std::filesystem::path& path, std::uint64_t fingerprint);

}  // namespace vit::train
