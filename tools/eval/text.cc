#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/draw/heatmap.h"
#include "tools/eval/report.h"
#include "tools/output/csv.h"
#include "tools/output/format.h"
#include "tools/output/unicode.h"

namespace vit::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostClassesListed = 20;
constexpr size_t kWeakestListed = 10;
constexpr size_t kConfusionsListed = 5;

std::string figure_line(const char* name, const std::string& figure, const std::string& remark) {
  return "  " + fit(name, 20) + padded(figure, 9) + (remark.empty() ? "" : "   " + remark) + "\n";
}

std::string of(std::uint64_t part, std::uint64_t whole) {
  return format_count(part) + " of " + format_count(whole);
}

std::string figures(const Tally& tally) {
  const MeanScore mean = tally.mean();
  return figure_line("top-1", format_percent(tally.top1()), of(tally.right(), tally.images())) +
         figure_line("top-5", format_percent(tally.top5()), of(tally.in_top5(), tally.images())) +
         figure_line("precision", format_percent(mean.precision), "mean over the classes") +
         figure_line("recall", format_percent(mean.recall), "") +
         figure_line("F1", format_percent(mean.f1), "") +
         figure_line("calibration error", format_percent(tally.calibration_error()),
                     "on average " + format_percent(tally.mean_confidence()) + " sure");
}

/// How many answers are left, and right, above each confidence.
std::string confidence_table(const Tally& tally) {
  std::string text = "\n  sure to at least    answers               right\n";
  for (const ConfidenceLevel& level : tally.levels()) {
    const double kept = static_cast<double>(level.images) / static_cast<double>(tally.images());
    const std::optional<double> right =
        level.images == 0
            ? std::nullopt
            : std::optional(static_cast<double>(level.right) / static_cast<double>(level.images));
    text += "  " + padded(formatted("%g %%", 100.0 * level.least), 16) +
            padded(format_count(level.images), 11) + padded(format_percent(kept), 10) +
            padded(format_percent(right), 10) + "\n";
  }
  return text;
}

/// All classes with images in their order, or the weakest of many.
std::vector<size_t> listed_classes(const Tally& tally) {
  std::vector<size_t> listed;
  for (size_t i = 0; i < tally.classes().size(); ++i)
    if (tally.classes()[i].images != 0) listed.push_back(i);
  if (listed.size() <= kMostClassesListed) return listed;
  std::ranges::stable_sort(listed, {}, [&](size_t i) { return *tally.classes()[i].f1(); });
  listed.resize(kWeakestListed);
  return listed;
}

std::string class_table(const EvaluationReport& report) {
  const Tally& tally = report.evaluation.tally;
  const size_t all = tally.classes_with_images();
  const auto listed = listed_classes(tally);
  size_t width = 8;
  for (const size_t i : listed)
    width = std::max(width, std::min<size_t>(32, display_width(printable(report.names.label(i)))));
  const std::string title = all > listed.size() ? "weakest" : "class";
  std::string text = "  " + fit(title, width) + "  images  precision    recall        F1\n";
  for (const size_t i : listed) {
    const ClassScore& score = tally.classes()[i];
    text += "  " + fit(printable(report.names.label(i)), width) +
            padded(format_count(score.images), 8) + padded(format_percent(score.precision()), 11) +
            padded(format_percent(score.recall()), 10) + padded(format_percent(score.f1()), 10) +
            "\n";
  }
  return text;
}

std::string confusion_lines(const EvaluationReport& report) {
  std::string text;
  for (const Confusion& c : report.evaluation.tally.most_confused(kConfusionsListed))
    text += "  " + padded(format_count(c.images), 6) + "  " +
            printable(report.names.label(c.truth)) + " taken for " +
            printable(report.names.label(c.predicted)) + "\n";
  return text.empty() ? "" : "\nmost frequent mistakes\n" + text;
}

Json or_null(std::optional<double> share) {
  return share ? Json(*share) : Json(nullptr);
}

Json class_json(const EvaluationReport& report, size_t index) {
  const ClassScore& score = report.evaluation.tally.classes()[index];
  return {{"class", index},
          {"label", report.names.label(index)},
          {"images", score.images},
          {"predicted", score.predicted},
          {"right", score.right},
          {"precision", or_null(score.precision())},
          {"recall", or_null(score.recall())},
          {"f1", or_null(score.f1())}};
}

Json mistake_json(const EvaluationReport& report, const Mistake& mistake) {
  return {{"file", mistake.image.name},
          {"truth", report.names.label(mistake.answer.truth)},
          {"truth_probability", mistake.answer.truth_probability},
          {"predicted", report.names.label(mistake.answer.predicted)},
          {"probability", mistake.answer.confidence}};
}

std::string csv_label(const EvaluationReport& report, size_t index) {
  const std::string& label = report.names.label(index);
  return csv_field(report.csv_safe ? csv_harmless(label) : label);
}

std::string number_or_nothing(std::optional<double> share) {
  return share ? formatted("%.6g", *share) : "";
}

}  // namespace

std::string evaluation_text(const EvaluationReport& report) {
  const Evaluation& evaluation = report.evaluation;
  const Tally& tally = evaluation.tally;
  std::string text = printable(report.names.model()) + " on " + printable(report.data) + ": " +
                     format_count(tally.images()) + " images of " +
                     format_count(tally.classes_with_images()) + " classes\n\n" + figures(tally) +
                     confidence_table(tally) + "\n" + class_table(report) + confusion_lines(report);
  if (evaluation.unreadable != 0)
    text += "\n" + format_count(evaluation.unreadable) +
            " more could not be read and are not in the figures\n";
  if (evaluation.damaged != 0)
    text += "\n" + format_count(evaluation.damaged) +
            " of the images are damaged files and are in the figures\n";
  return text;
}

std::string evaluation_json(const EvaluationReport& report) {
  const Evaluation& evaluation = report.evaluation;
  const Tally& tally = evaluation.tally;
  const MeanScore mean = tally.mean();
  Json json{{"images", tally.images()},
            {"top1", tally.top1()},
            {"top5", tally.top5()},
            {"right", tally.right()},
            {"in_top5", tally.in_top5()},
            {"precision", mean.precision},
            {"recall", mean.recall},
            {"f1", mean.f1},
            {"calibration_error", tally.calibration_error()},
            {"mean_confidence", tally.mean_confidence()},
            {"unreadable", evaluation.unreadable},
            {"skipped", Json(report.skipped.counts())},
            {"damaged", evaluation.damaged},
            {"model", report.names.model()},
            {"data", report.data},
            {"levels", Json::array()},
            {"classes", Json::array()},
            {"confusions", Json::array()},
            {"worst", Json::array()},
            {"failures", Json::array()}};
  for (const ConfidenceLevel& level : tally.levels())
    json["levels"].push_back(
        {{"least", level.least}, {"images", level.images}, {"right", level.right}});
  for (const size_t i : tally.occurring()) json["classes"].push_back(class_json(report, i));
  for (const Confusion& c : tally.confusions())
    json["confusions"].push_back(
        {{"truth", c.truth}, {"predicted", c.predicted}, {"images", c.images}});
  for (const Mistake& mistake : evaluation.worst)
    json["worst"].push_back(mistake_json(report, mistake));
  for (const Failure& failure : evaluation.failures)
    json["failures"].push_back({{"file", failure.name}, {"error", failure.reason}});
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string classes_csv(const EvaluationReport& report) {
  const Tally& tally = report.evaluation.tally;
  std::string text = "class,label,images,predicted,right,precision,recall,f1\n";
  for (const size_t i : tally.occurring()) {
    const ClassScore& score = tally.classes()[i];
    text += std::to_string(i) + ',' + csv_label(report, i) + ',' + std::to_string(score.images) +
            ',' + std::to_string(score.predicted) + ',' + std::to_string(score.right) + ',' +
            number_or_nothing(score.precision()) + ',' + number_or_nothing(score.recall()) + ',' +
            number_or_nothing(score.f1()) + '\n';
  }
  return text;
}

std::string confusion_csv(const EvaluationReport& report) {
  const Tally& tally = report.evaluation.tally;
  const auto classes = tally.occurring();
  std::string text = "true class";
  for (const size_t column : classes) text += ',' + csv_label(report, column);
  text += '\n';
  for (const size_t row : classes) {
    text += csv_label(report, row);
    for (const size_t column : classes) text += ',' + std::to_string(tally.confused(row, column));
    text += '\n';
  }
  return text;
}

}  // namespace vit::tools
