/// Labelled images on disk: a folder of class folders, or a CSV file of files and labels.
#pragma once

#include <cstdint>
#include <string>

#include "tools/eval/class_names.h"
#include "tools/eval/evaluate.h"
#include "vit/data/dataset.h"
#include "vit/data/skipped_files.h"

namespace vit::tools {

/// Those of a dataset in memory, which must outlive it. Samples of files of their own are read from
/// them again, so that what training reduced is seen as it is.
LabelledSource labelled_samples(const std::vector<data::Sample>& samples,
                                size_t max_pixels = patch::kUsualMaxPixels);

struct LabelledFiles {
  LabelledSource source;
  std::uint64_t images = 0;
  data::SkippedFiles skipped;  ///< of a folder; IDX, CIFAR and CSV skip none
};

/// Listed twice, never held: once here, to count them and to be sure of every label before the
/// first image runs, and once by the source. Throws an Error for a label that is no class.
///
/// A folder: folders named after classes, with images at any depth below; or images whose names
/// begin with a WordNet id. CSV: file and label, in columns so named or the first two; a relative
/// file lies beside the CSV. A folder of IDX or CIFAR files: its test part, held. `names` and
/// the budget of `options` must outlive the source.
LabelledFiles open_labelled(const std::string& path, const ClassNames& names,
                            const patch::DecodeOptions& options);

}  // namespace vit::tools
