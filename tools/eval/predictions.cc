#include "tools/eval/predictions.h"

#include "tools/output/csv.h"
#include "tools/output/format.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBytesAtOnce = size_t{1} << 16;

const fs::path& in_made_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) fail_at(path.parent_path().string(), "cannot make this folder: ", error.message());
  return path;
}

}  // namespace

PredictionsFile::PredictionsFile(const fs::path& path, const ClassNames& names, bool csv_safe)
    : file_(in_made_folder(path)), names_(names), csv_safe_(csv_safe) {
  waiting_ = "file,truth,predicted,probability,truth_probability,rank\n";
}

std::string PredictionsFile::cell(const std::string& text) const {
  return csv_field(csv_safe_ ? csv_harmless(text) : text);
}

void PredictionsFile::add(const LabelledImage& image, const Answer& answer) {
  waiting_ += cell(image.name) + ',' + cell(names_.label(answer.truth)) + ',' +
              cell(names_.label(answer.predicted)) + ',' + formatted("%.9g,", answer.confidence) +
              formatted("%.9g,", answer.truth_probability) + std::to_string(answer.rank + 1) + '\n';
  if (waiting_.size() >= kBytesAtOnce) flush();
}

void PredictionsFile::commit() {
  flush();
  file_.commit();
}

void PredictionsFile::flush() {
  file_.write(std::as_bytes(std::span(waiting_)));
  waiting_.clear();
}

}  // namespace vit::tools
