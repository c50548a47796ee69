/// The report of an evaluation as text, JSON, tables, a picture and a page.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/cli/class_names.h"
#include "tools/draw/canvas.h"
#include "tools/eval/evaluate.h"
#include "vit/data/skipped_files.h"

namespace vit::tools {

struct EvaluationReport {
  std::string data;  ///< the operand DATA, as given
  const ClassNames& names;
  const Evaluation& evaluation;
  data::SkippedFiles skipped{};     ///< of the folder of images
  bool csv_safe = false;            ///< cells of CSV that spreadsheets would run begin with '
  const Picture* curves = nullptr;  ///< of the training; null: none
};

using ReadImage = std::function<patch::Image(const LabelledImage&)>;

std::string evaluation_text(const EvaluationReport& report);
std::string evaluation_json(const EvaluationReport& report);

/// A line per class that occurs.
std::string classes_csv(const EvaluationReport& report);
/// A row per true class, a column per predicted one, of the classes that occur.
std::string confusion_csv(const EvaluationReport& report);
/// The same as shares of each row. Thousands of classes are drawn several to a pixel.
Picture confusion_picture(const EvaluationReport& report);

/// Self-contained: pictures are in it, no network.
std::string evaluation_page(const EvaluationReport& report, const ReadImage& read);

/// What write_evaluation() will write.
std::vector<std::filesystem::path> evaluation_files(const std::filesystem::path& output);

/// Where a PredictionsFile goes; empty if `output` is empty or a page alone.
std::filesystem::path predictions_file(const std::filesystem::path& output);

/// A name that ends in .html: the page. Else a folder, made where it is missing: index.html,
/// confusion.csv, confusion.png, classes.csv.
void write_evaluation(const std::filesystem::path& output, const EvaluationReport& report,
                      const ReadImage& read);

}  // namespace vit::tools
