/// Labelled images on disk: a folder of class folders, or a CSV file of files and labels.
#pragma once

#include <cstdint>
#include <string>

#include "tools/cli/class_names.h"
#include "tools/eval/evaluate.h"
#include "vit/data/dataset.h"
#include "vit/data/skipped_files.h"

namespace vit::tools {

/// The samples of a dataset in memory, which must outlive the source. Samples with a file are read
/// again, so that images that were reduced for training have their full size.
LabelledSource labelled_samples(const std::vector<data::Sample>& samples,
                                size_t max_pixels = patch::kUsualMaxPixels);

struct LabelledFiles {
  LabelledSource source;
  std::uint64_t images = 0;
  data::SkippedFiles skipped;  ///< of a folder; IDX, CIFAR and CSV skip none
};

/// Listed twice and not stored: once here, to count them and to check every label before the first
/// image runs, and once by the source. Throws an Error for a label that is not a class.
///
/// A folder: folders named after classes, with images at any depth below; or images whose names
/// begin with a WordNet id. CSV: file and label, in columns of these names or the first two;
/// relative paths start at the folder of the CSV. A folder of IDX or CIFAR files: its test part, in
/// memory. `names` and the budget of `options` must outlive the source.
LabelledFiles open_labelled(const std::string& path, const ClassNames& names,
                            const patch::DecodeOptions& options);

}  // namespace vit::tools
