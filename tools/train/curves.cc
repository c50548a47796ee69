#include "tools/train/curves.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>
#include <sstream>

#include "tools/draw/canvas.h"
#include "tools/output/file.h"
#include "tools/output/format.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

const cv::Scalar kLetters(60, 60, 60), kGridLines(225, 225, 225), kTrain(200, 120, 30),
    kOther(40, 90, 230);
constexpr int kWidth = 560, kHeight = 400, kMargin = 56;

struct Line {
  std::vector<double> values;
  cv::Scalar colour;
  const char* name;
};

struct Plot {
  const char* title;
  double low;
  double high;
  std::vector<Line> lines;
};

std::string rounded(double value) {
  return formatted(value >= 10.0 ? "%.0f" : "%.2g", value);
}

void write(cv::Mat& image, const std::string& text, cv::Point at, const cv::Scalar& colour) {
  cv::putText(image, text, at, cv::FONT_HERSHEY_SIMPLEX, 0.42, colour, 1, cv::LINE_AA);
}

void draw_frame(cv::Mat& image, const Plot& plot, size_t epochs) {
  constexpr int kLines = 5;
  for (int i = 0; i <= kLines; ++i) {
    const int y = kHeight - kMargin - (kHeight - 2 * kMargin) * i / kLines;
    cv::line(image, {kMargin, y}, {kWidth - 16, y}, kGridLines);
    write(image, rounded(plot.low + (plot.high - plot.low) * i / kLines), {8, y + 4}, kLetters);
  }
  write(image, plot.title, {kMargin, 24}, kLetters);
  write(image, "epoch", {kWidth / 2 - 16, kHeight - 12}, kLetters);
  write(image, "1", {kMargin - 4, kHeight - kMargin + 18}, kLetters);
  write(image, std::to_string(epochs), {kWidth - 40, kHeight - kMargin + 18}, kLetters);
}

cv::Mat draw(const Plot& plot) {
  cv::Mat image(kHeight, kWidth, CV_8UC3, cv::Scalar(255, 255, 255));
  const size_t epochs = plot.lines.front().values.size();
  draw_frame(image, plot, epochs);
  const double across = static_cast<double>(kWidth - kMargin - 16) /
                        static_cast<double>(std::max<size_t>(1, epochs - 1));
  int legend = kWidth - 210;
  for (const Line& line : plot.lines) {
    std::vector<cv::Point> points;
    for (size_t i = 0; i < epochs; ++i) {
      double share = (line.values[i] - plot.low) / std::max(1e-9, plot.high - plot.low);
      if (!std::isfinite(share)) share = 1.0;
      points.emplace_back(static_cast<int>(kMargin + across * static_cast<double>(i)),
                          static_cast<int>(kHeight - kMargin -
                                           std::clamp(share, 0.0, 1.0) * (kHeight - 2 * kMargin)));
    }
    cv::polylines(image, points, false, line.colour, 2, cv::LINE_AA);
    if (points.size() == 1) cv::circle(image, points.front(), 4, line.colour, -1, cv::LINE_AA);
    write(image, line.name, {legend, 24}, line.colour);
    legend += 90;
  }
  return image;
}

template <typename Field>
std::vector<double> column(const std::vector<train::EpochRow>& history, Field field,
                           double factor = 1.0) {
  std::vector<double> values;
  values.reserve(history.size());
  for (const auto& row : history) values.push_back(row.*field * factor);
  return values;
}

}  // namespace

void write_log(const fs::path& path, const std::vector<train::EpochRow>& history) {
  std::ostringstream text;
  text << "epoch,train_loss,train_accuracy,validation_loss,validation_accuracy,learning_rate,"
          "seconds\n";
  for (const auto& row : history)
    text << row.epoch << ',' << row.train_loss << ',' << row.train_accuracy << ','
         << row.validation_loss << ',' << row.validation_accuracy << ',' << row.rate << ','
         << row.seconds << '\n';
  write_file(path, text.str());
}

void draw_curves(const fs::path& path, const std::vector<train::EpochRow>& history) {
  if (history.empty()) return;
  using Row = train::EpochRow;
  const auto train_loss = column(history, &Row::train_loss);
  const auto other_loss = column(history, &Row::validation_loss);
  const double highest = std::max(*std::max_element(train_loss.begin(), train_loss.end()),
                                  *std::max_element(other_loss.begin(), other_loss.end()));
  const cv::Mat loss =
      draw({"loss",
            0.0,
            std::ceil(highest * 2.0) / 2.0,
            {{train_loss, kTrain, "training"}, {other_loss, kOther, "validation"}}});
  const cv::Mat accuracy =
      draw({"accuracy in %",
            0.0,
            100.0,
            {{column(history, &Row::train_accuracy, 100.0), kTrain, "training"},
             {column(history, &Row::validation_accuracy, 100.0), kOther, "validation"}}});
  cv::Mat both;
  cv::hconcat(loss, accuracy, both);
  cv::cvtColor(both, both, cv::COLOR_BGR2RGB);
  const patch::Image picture{static_cast<size_t>(both.cols),
                             static_cast<size_t>(both.rows),
                             {both.datastart, both.dataend}};
  write_file(path, encode_picture(picture, ".png"));
}

}  // namespace vit::tools
