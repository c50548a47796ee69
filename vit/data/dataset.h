/// Images with labels: a folder of class folders, IDX files (MNIST and its kin), CIFAR's binaries.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "patch/image/image.h"
#include "vit/base/recipe.h"
#include "vit/base/thread_pool.h"
#include "vit/data/skipped_files.h"

namespace vit::data {

using std::size_t;

struct Sample {
  patch::Image image;
  size_t label = 0;
  std::string file{};  ///< where it was read from; empty: one of many in a file of a dataset
};

struct Dataset {
  std::vector<std::string> labels;
  std::vector<std::string> wordnet_ids{};  ///< of labels given to folders named so, or empty
  std::vector<Sample> train;
  std::vector<Sample> validation;
  bool split_by_us = false;          ///< the data had no validation part of its own
  size_t damaged = 0;                ///< files that were read, but are not whole
  std::vector<std::string> skipped;  ///< why each file that could not be read was left out
  SkippedFiles other_files;          ///< in class folders, but not images by their ending
};

struct DatasetOptions {
  /// Photographs are reduced once to this short edge, in pixels; 0: kept as they are. All images
  /// stay in memory: decoding is done once, not in every epoch.
  size_t short_edge = 0;
  double validation_share = 0.1;  ///< of each class, where the data has no validation part
  std::uint64_t seed = 0;
  size_t most_per_class = 0;                   ///< of the training part, 0: all
  size_t max_pixels = patch::kUsualMaxPixels;  ///< of a file, and of all while they are reduced
  ThreadPool* pool = nullptr;
};

/// Finds out what `path` is. Throws an Error saying what is wrong: no images, one class alone, an
/// empty class, labels of the parts that differ.
Dataset read_dataset(const std::filesystem::path& path, const DatasetOptions& options);

// The formats. `path` is the folder that holds the files.
bool is_idx_folder(const std::filesystem::path& path);
Dataset read_idx(const std::filesystem::path& path);
bool is_cifar_folder(const std::filesystem::path& path);
Dataset read_cifar(const std::filesystem::path& path);

/// Changes with the labels, the images and their parts.
std::uint64_t fingerprint(const Dataset& dataset);

/// Means and standard deviations of the training pixels, for the recipe.
void measure_statistics(const Dataset& dataset, Recipe& recipe);

}  // namespace vit::data
