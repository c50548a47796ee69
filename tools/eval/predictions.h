/// predictions.csv: a row per image, in the order of the source.
#pragma once

#include <filesystem>
#include <string>

#include "tools/cli/class_names.h"
#include "tools/eval/evaluate.h"
#include "vit/base/atomic_file.h"

namespace vit::tools {

/// Rows are written as they come; the file appears when commit() is called. Makes its folder where
/// it is missing.
class PredictionsFile {
 public:
  PredictionsFile(const std::filesystem::path& path, const ClassNames& names, bool csv_safe);

  void add(const LabelledImage& image, const Answer& answer);
  void commit();

 private:
  std::string cell(const std::string& text) const;
  void flush();

  AtomicFile file_;
  const ClassNames& names_;
  bool csv_safe_;
  std::string waiting_;
};

}  // namespace vit::tools
