#include <algorithm>
#include <cmath>

#include "tools/draw/heatmap.h"
#include "tools/eval/matrix.h"
#include "tools/eval/page_style.h"
#include "tools/eval/report.h"
#include "tools/output/file.h"
#include "tools/output/format.h"
#include "tools/output/html.h"
#include "tools/output/unicode.h"
#include "vit/base/atomic_file.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

constexpr size_t kThumbnailEdge = 240, kConfusionsShown = 12, kFailuresShown = 100;

std::string safe(std::string_view text) {
  return html_escaped(printable(text));
}

std::string figure_html(const std::string& value, const char* name, const std::string& remark) {
  return "<li><span class=\"faint\">" + std::string(name) + "</span><b>" + value +
         "</b><span class=\"faint\">" + remark + "</span></li>\n";
}

std::string figures_html(const Tally& tally) {
  const auto of = [&](std::uint64_t part) {
    return format_count(part) + " of " + format_count(tally.images());
  };
  const MeanScore mean = tally.mean();
  return "<ul class=\"figures\">\n" +
         figure_html(format_percent(tally.top1()), "top-1", of(tally.right())) +
         figure_html(format_percent(tally.top5()), "top-5", of(tally.in_top5())) +
         figure_html(format_percent(mean.f1), "F1",
                     "precision " + format_percent(mean.precision) + ", recall " +
                         format_percent(mean.recall)) +
         figure_html(format_percent(tally.calibration_error()), "calibration error",
                     "on average " + format_percent(tally.mean_confidence()) + " sure") +
         "</ul>\n";
}

std::string curves_html(const EvaluationReport& report) {
  if (report.curves == nullptr) return "";
  return "<figure><h2>Training</h2><img alt=\"Loss, accuracy and learning rate by epoch\" "
         "src=\"data:image/png;base64," +
         base64(encode_picture(*report.curves, ".png")) + "\"></figure>\n";
}

std::string confusion_html(const EvaluationReport& report) {
  if (report.evaluation.tally.occurring().size() > kMostInPicture)
    return "<figure><h2>Confusion matrix</h2><p class=\"faint\">Rows are the true classes, columns "
           "what they were taken for; colours are shares of a row.</p>" +
           matrix_html(report) + "</figure>\n";
  return "<figure><h2>Confusion matrix</h2><p class=\"faint\">Rows are the true classes; colours "
         "are shares of a row.</p><img alt=\"Confusion matrix\" src=\"data:image/png;base64," +
         base64(encode_picture(confusion_picture(report), ".png")) + "\"></figure>\n";
}

/// How often answers of each confidence are right; on the diagonal confidence can be believed.
std::string reliability_html(const Tally& tally) {
  constexpr double kLeft = 34, kTop = 8, kSide = 280;
  const auto number = [](double value) { return formatted("%.1f", value); };
  std::string svg = "<svg viewBox=\"0 0 330 330\" role=\"img\" aria-label=\"Reliability\">";
  for (int i = 0; i <= 4; ++i) {
    const double at = kSide * i / 4.0;
    const std::string y = number(kTop + kSide - at), x = number(kLeft + at);
    svg += "<line class=\"axis\" x1=\"" + number(kLeft) + "\" x2=\"" + number(kLeft + kSide) +
           "\" y1=\"" + y + "\" y2=\"" + y + "\"/><text x=\"28\" y=\"" + y +
           "\" dy=\"4\" text-anchor=\"end\">" + std::to_string(25 * i) + "</text><text x=\"" + x +
           "\" y=\"" + number(kTop + kSide + 16) + "\" text-anchor=\"middle\">" +
           std::to_string(25 * i) + "</text>";
  }
  const double width = kSide / static_cast<double>(Tally::kBins);
  for (size_t i = 0; i < Tally::kBins; ++i) {
    const ConfidenceBin& bin = tally.bins()[i];
    if (bin.images == 0) continue;
    const double height = std::max(1.0, kSide * bin.accuracy());
    svg += "<rect class=\"bin\" rx=\"2\" x=\"" +
           number(kLeft + width * static_cast<double>(i) + 1) + "\" y=\"" +
           number(kTop + kSide - height) + "\" width=\"" + number(width - 2) + "\" height=\"" +
           number(height) + "\"><title>" + format_count(bin.images) + " images, " +
           format_percent(bin.mean_confidence()) + " sure, " + format_percent(bin.accuracy()) +
           " right</title></rect>";
  }
  svg += "<line class=\"ideal\" x1=\"" + number(kLeft) + "\" y1=\"" + number(kTop + kSide) +
         "\" x2=\"" + number(kLeft + kSide) + "\" y2=\"" + number(kTop) +
         "\"/><text x=\"174\" y=\"324\" text-anchor=\"middle\">confidence in %</text></svg>";
  return "<figure><h2>How reliable is the confidence?</h2><p class=\"faint\">Share of right "
         "answers, in %, by confidence; the dashed line is perfect calibration.</p>" +
         svg + "</figure>\n";
}

std::string confusions_html(const EvaluationReport& report) {
  std::string html;
  for (const Confusion& c : report.evaluation.tally.most_confused(kConfusionsShown))
    html += "<li><b>" + format_count(c.images) + "</b><span>" + safe(report.names.label(c.truth)) +
            " <span class=\"faint\">taken for</span> " + safe(report.names.label(c.predicted)) +
            "</span></li>\n";
  if (html.empty()) return "";
  return "<section><h2>Most frequent mistakes</h2><ul class=\"pairs\">\n" + html +
         "</ul></section>\n";
}

std::string thumbnail_html(const Mistake& mistake, const ReadImage& read) {
  try {
    Image image = read(mistake.image);
    const double scale = static_cast<double>(kThumbnailEdge) /
                         static_cast<double>(std::max(image.width, image.height));
    const auto reduced = [&](size_t edge) {
      const double wanted = std::round(scale * static_cast<double>(edge));
      return std::max<size_t>(1, static_cast<size_t>(wanted));
    };
    if (scale < 1.0) image = scaled(image, reduced(image.width), reduced(image.height));
    const bool small = scale > 2.0;  // its pixels are shown as squares, so without JPEG
    return std::string("<img") + (small ? " class=\"small\"" : "") + " alt=\"" +
           safe(mistake.image.name) + "\" src=\"data:image/" + (small ? "png" : "jpeg") +
           ";base64," + base64(encode_picture(image, small ? ".png" : ".jpg")) + "\">";
  } catch (const std::exception&) {  // it could be read before
    return "<div class=\"none\">no longer readable</div>";
  }
}

std::string said_html(const char* kind, const std::string& label, double probability) {
  return "<div class=\"said " + std::string(kind) + "\"><span>" + safe(label) + "</span><span>" +
         format_percent(probability, 1) +
         "</span><i style=\"--part:" + formatted("%.4f", probability) + "\"></i></div>";
}

std::string mistakes_html(const EvaluationReport& report, const ReadImage& read) {
  const auto& worst = report.evaluation.worst;
  if (worst.empty()) return "";
  std::string html =
      "<section><h2>Worst mistakes</h2><p class=\"faint\">Wrong answers with the highest "
      "confidence. "
      "Above: the answer; below: the true class.</p>\n<ul class=\"cards\">\n";
  for (const Mistake& mistake : worst) {
    const Answer& answer = mistake.answer;
    html += "<li>" + thumbnail_html(mistake, read) +
            said_html("wrong", report.names.label(answer.predicted), answer.confidence) +
            said_html("right", report.names.label(answer.truth), answer.truth_probability) +
            "<p class=\"faint\">" + safe(fs::path(mistake.image.name).filename().string()) +
            "</p></li>\n";
  }
  return html + "</ul></section>\n";
}

std::string share_cell(std::optional<double> share) {
  return "<td data-value=\"" + formatted("%.9g", share.value_or(-1.0)) + "\">" +
         format_percent(share) + "</td>";
}

std::string classes_html(const EvaluationReport& report) {
  const Tally& tally = report.evaluation.tally;
  const auto count_cell = [](std::uint64_t count) {
    return "<td data-value=\"" + std::to_string(count) + "\">" + format_count(count) + "</td>";
  };
  std::string html = "<section><h2>Classes</h2><div class=\"scroll\"><table><thead><tr>";
  for (const auto* name : {"class", "images", "predicted", "precision", "recall", "F1"})
    html += std::string("<th scope=\"col\">") + name + "</th>";
  html += "</tr></thead>\n<tbody>\n";
  for (const size_t i : tally.occurring()) {
    const ClassScore& score = tally.classes()[i];
    html += "<tr><td>" + safe(report.names.label(i)) + "</td>" + count_cell(score.images) +
            count_cell(score.predicted) + share_cell(score.precision()) +
            share_cell(score.recall()) + share_cell(score.f1()) + "</tr>\n";
  }
  return html + "</tbody></table></div></section>\n";
}

std::string failures_html(const Evaluation& evaluation) {
  if (evaluation.unreadable == 0) return "";
  std::string html =
      "<section><h2>" + format_count(evaluation.unreadable) +
      " could not be read</h2><p class=\"faint\">They are not part of the figures.</p><ul>\n";
  for (size_t i = 0; i < std::min(evaluation.failures.size(), kFailuresShown); ++i)
    html += "<li>" + safe(evaluation.failures[i].name) + ": " +
            safe(evaluation.failures[i].reason) + "</li>\n";
  if (evaluation.unreadable > kFailuresShown) html += "<li>…</li>\n";
  return html + "</ul></section>\n";
}

}  // namespace

std::string evaluation_page(const EvaluationReport& report, const ReadImage& read) {
  const Tally& tally = report.evaluation.tally;
  const std::string model = safe(report.names.model()), data = safe(report.data);
  std::string body = "<h1>" + model + "</h1>\n<p class=\"faint\">on " + data + ": " +
                     format_count(tally.images()) + " images of " +
                     format_count(tally.classes_with_images()) + " classes</p>\n";
  body += figures_html(tally) + curves_html(report) + "<div class=\"pair\">\n" +
          confusion_html(report) + "<div>\n" + reliability_html(tally) + confusions_html(report) +
          "</div>\n</div>\n";
  body += mistakes_html(report, read) + classes_html(report) + failures_html(report.evaluation);
  return html_page({.title = model + " on " + data,
                    .style = kEvaluationStyle,
                    .body = std::move(body),
                    .script = kEvaluationScript});
}

std::vector<fs::path> evaluation_files(const fs::path& output) {
  if (output.extension() == ".html") return {output};
  return {output / "confusion.csv", output / "confusion.png", output / "classes.csv",
          output / "index.html", predictions_file(output)};
}

fs::path predictions_file(const fs::path& output) {
  return output.empty() || output.extension() == ".html" ? fs::path() : output / "predictions.csv";
}

void write_evaluation(const fs::path& output, const EvaluationReport& report,
                      const ReadImage& read) {
  const auto files = evaluation_files(output);
  if (files.size() == 1) return write_file(output, evaluation_page(report, read));
  std::error_code error;
  fs::create_directories(output, error);
  if (error) fail_at(output.string(), "cannot make this folder: ", error.message());
  remove_abandoned(output);
  write_file(files[0], confusion_csv(report));
  write_file(files[1], encode_picture(confusion_picture(report), ".png"));
  write_file(files[2], classes_csv(report));
  write_file(files[3], evaluation_page(report, read));
}

}  // namespace vit::tools
