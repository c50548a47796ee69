/// How unsure a classifier is of the images of an index.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "tools/cli/model_options.h"
#include "vit/index/file.h"
#include "vit/model/classifier.h"

namespace vit::tools {

struct Doubt {
  size_t row = 0;
  float score = 0.0f;     ///< 0: sure, 1: two classes are equally likely
  std::string guesses{};  ///< "cat 51 %, dog 48 %"
};

/// 1 minus the margin between the two best classes; with one class, 1 minus its probability. With
/// several labels for an image, 1 where the best probability is one half, 0 where it is 0 or 1. The
/// best class comes first.
float doubt_of(std::span<const Prediction> best, bool multi_label);

/// From the rows of a `vit batch`: .csv, .jsonl or .db. Images of the index without a row, and
/// failed rows, are left out. The rows are taken as multi-label if the probabilities of one add
/// up to more than 1. Throws an Error if no row is of an image of the index.
std::vector<Doubt> doubts_of_results(const index::Index& index,
                                     const std::filesystem::path& results);

struct ModelDoubts {
  std::vector<Doubt> doubts{};
  size_t failed = 0;  ///< images that could not be read or classified
  int stopped = 0;    ///< the exit status if a signal stopped the run
};

/// By classifying every image of the index now.
ModelDoubts doubts_of_model(const index::Index& index, const ModelSettings& settings);

}  // namespace vit::tools
