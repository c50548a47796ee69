#include "tools/train/curves.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "tools/draw/heading.h"
#include "tools/draw/heatmap.h"
#include "tools/output/file.h"
#include "tools/output/format.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using Row = train::EpochRow;

constexpr Colour kTraining{30, 110, 190}, kValidation{214, 78, 32}, kRate{13, 118, 110};
constexpr size_t kMargin = 20, kWidth = 400, kHeight = 300, kLeft = 58, kBottom = 46, kTop = 30;
constexpr TextLook kLabel{.height = 9.5, .colour = kFaintInk};

struct Line {
  std::vector<double> values;
  Colour colour{};
  const char* name = "";
};

struct Plot {
  const char* title = "";
  double high = 1.0;
  std::vector<Line> lines{};
};

TextLook with(Align align, Colour colour = kFaintInk) {
  TextLook look = kLabel;
  look.align = align;
  look.colour = colour;
  return look;
}

/// Where a value of an epoch, counted from 0, is in the box of a plot.
class Axes {
 public:
  Axes(const Box& box, double high, size_t epochs) : box_(box), high_(high), epochs_(epochs) {}

  Place place(size_t epoch, double value) const {
    const double share = std::isfinite(value) ? std::clamp(value / high_, 0.0, 1.0) : 1.0;
    const double across =
        epochs_ == 1 ? 0.5 : static_cast<double>(epoch) / static_cast<double>(epochs_ - 1);
    return {static_cast<double>(box_.x) + across * static_cast<double>(box_.width - 1),
            static_cast<double>(box_.y) + (1.0 - share) * static_cast<double>(box_.height - 1)};
  }

 private:
  Box box_;
  double high_;
  size_t epochs_;
};

/// The first and the last epoch, and round numbers between them.
std::vector<size_t> epoch_ticks(size_t epochs) {
  std::vector<size_t> ticks{1};
  const auto last = static_cast<double>(epochs);
  const double apart = 0.08 * last;  // room for the numbers
  for (const double number : round_numbers(1.0, last))
    if (number == std::floor(number) && number - 1.0 > apart && last - number > apart)
      ticks.push_back(static_cast<size_t>(number));
  if (epochs > 1) ticks.push_back(epochs);
  return ticks;
}

void draw_axes(Picture& picture, const Box& box, const Plot& plot, const Axes& axes,
               size_t epochs) {
  const double below = static_cast<double>(box.y + box.height);
  for (const double number : round_numbers(0.0, plot.high)) {
    const double y = axes.place(0, number).y;
    fill(picture, {box.x, static_cast<size_t>(std::lround(y)), box.width, 1}, kRule);
    draw_text(picture, formatted("%.3g", number), static_cast<double>(box.x) - 8.0, y + 4.5,
              with(Align::kRight));
  }
  for (const size_t epoch : epoch_ticks(epochs)) {
    const double x = axes.place(epoch - 1, 0.0).x;
    fill(picture, {static_cast<size_t>(std::lround(x)), box.y + box.height, 1, 5}, kFaintInk);
    draw_text(picture, std::to_string(epoch), x, below + 18.0, with(Align::kCentre));
  }
  draw_text(picture, "epoch", static_cast<double>(box.x) + 0.5 * static_cast<double>(box.width),
            below + 36.0, with(Align::kCentre));
}

void draw_plot(Picture& picture, const Box& box, const Plot& plot) {
  const size_t epochs = plot.lines.front().values.size();
  const Axes axes(box, plot.high, epochs);
  const double above = static_cast<double>(box.y) - 12.0;
  draw_text(picture, plot.title, static_cast<double>(box.x), above, {.height = 10.0, .bold = true});
  draw_axes(picture, box, plot, axes, epochs);
  double right = static_cast<double>(box.x + box.width);
  for (const Line& line : plot.lines) {
    std::vector<Place> places;
    for (size_t i = 0; i < epochs; ++i) places.push_back(axes.place(i, line.values[i]));
    polyline(picture, places, 2.0, line.colour);
    draw_text(picture, line.name, right, above, with(Align::kRight, line.colour));
    right -= static_cast<double>(text_width(line.name, kLabel)) + 14.0;
  }
}

std::vector<double> column(const std::vector<Row>& history, double Row::*field,
                           double factor = 1.0) {
  std::vector<double> values;
  values.reserve(history.size());
  for (const auto& row : history) values.push_back(row.*field * factor);
  return values;
}

/// The largest that is a number; something positive where there is none.
double highest(std::initializer_list<Line> lines) {
  double high = 0.0;
  for (const Line& line : lines)
    for (const double value : line.values)
      if (std::isfinite(value)) high = std::max(high, value);
  return high > 0.0 ? 1.05 * high : 1.0;
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

Picture curves_picture(const std::string& title, const std::vector<Row>& history) {
  if (history.empty()) return {};
  const Line train_loss{column(history, &Row::train_loss), kTraining, "training"};
  const Line other_loss{column(history, &Row::validation_loss), kValidation, "validation"};
  const Line rate{column(history, &Row::rate), kRate, ""};
  const std::vector<Plot> plots{
      {"Loss", highest({train_loss, other_loss}), {other_loss, train_loss}},
      {"Accuracy in %",
       100.0,
       {{column(history, &Row::validation_accuracy, 100.0), kValidation, "validation"},
        {column(history, &Row::train_accuracy, 100.0), kTraining, "training"}}},
      {"Learning rate", highest({rate}), {rate}}};
  const Row& best = *std::ranges::max_element(history, {}, &Row::validation_accuracy);
  const Heading heading{
      title, std::to_string(history.size()) + (history.size() == 1 ? " epoch" : " epochs") +
                 ", best validation accuracy " + format_percent(best.validation_accuracy) +
                 " in epoch " + std::to_string(best.epoch)};
  Picture picture{blank(2 * kMargin + plots.size() * (kLeft + kWidth) + 8,
                        kHeadingHeight + kTop + kHeight + kBottom)};
  draw_heading(picture, heading, kMargin);
  for (size_t i = 0; i < plots.size(); ++i)
    draw_plot(picture,
              {kMargin + i * (kLeft + kWidth) + kLeft, kHeadingHeight + kTop, kWidth, kHeight},
              plots[i]);
  return picture;
}

}  // namespace vit::tools
