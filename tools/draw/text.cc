// OpenCV's plotter font, drawn several times larger and averaged down: even strokes, smooth
// edges, and sub-pixel positions.
#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "tools/draw/canvas.h"
#include "tools/output/unicode.h"

namespace vit::tools {
namespace {

constexpr int kFont = cv::FONT_HERSHEY_SIMPLEX;
constexpr int kOversampling = 8;
constexpr double kCapital = 21.0;  // height of this font's capitals at scale 1

struct Rendered {
  cv::Mat coverage;  // 0 to 255
  int baseline = 0;  // row of the baseline
  int left = 0;      // column of the text's left end
};

double font_scale(const TextLook& look) {
  return look.height * kOversampling / kCapital;
}

int stroke(const TextLook& look) {
  const double width = look.height * (look.bold ? 0.20 : 0.125) * kOversampling;
  return std::max(1, static_cast<int>(std::lround(width)));
}

std::string plain(std::string_view text) {
  std::string ascii;
  while (!text.empty()) {
    const auto point = take_code_point(text);
    ascii += point && *point >= 0x20 && *point < 0x7F ? static_cast<char>(*point) : '?';
  }
  return ascii;
}

/// `shift` is the horizontal offset in parts of a pixel.
Rendered render(const std::string& text, const TextLook& look, double shift) {
  int below = 0;
  const cv::Size size = cv::getTextSize(text, kFont, font_scale(look), stroke(look), &below);
  constexpr int kMargin = 3;
  const auto pixels = [](int fine) { return (fine + kOversampling - 1) / kOversampling; };
  Rendered out;
  out.baseline = pixels(size.height) + kMargin;
  out.left = kMargin;
  const cv::Size coarse(pixels(size.width) + 2 * kMargin + 1,
                        out.baseline + pixels(below) + kMargin);
  cv::Mat fine = cv::Mat::zeros(coarse * kOversampling, CV_8UC1);
  const int offset = static_cast<int>(std::lround(shift * kOversampling));
  cv::putText(fine, text, {out.left * kOversampling + offset, out.baseline * kOversampling}, kFont,
              font_scale(look), 255, stroke(look), cv::LINE_8);
  cv::resize(fine, out.coverage, coarse, 0.0, 0.0, cv::INTER_AREA);
  return out;
}

void lay_on(const cv::Mat& coverage, int x, int y, Colour colour, Image& image) {
  for (int r = 0; r < coverage.rows; ++r) {
    const int row = y + r;
    if (row < 0 || row >= static_cast<int>(image.height)) continue;
    for (int c = 0; c < coverage.cols; ++c) {
      const int col = x + c, part = coverage.at<std::uint8_t>(r, c);
      if (part == 0 || col < 0 || col >= static_cast<int>(image.width)) continue;
      std::uint8_t* pixel = image.row(static_cast<size_t>(row)) + 3 * col;
      for (size_t k = 0; k < 3; ++k)
        pixel[k] = static_cast<std::uint8_t>((pixel[k] * (255 - part) + colour[k] * part) / 255);
    }
  }
}

double exact_width(const std::string& text, const TextLook& look) {
  int below = 0;
  return cv::getTextSize(text, kFont, font_scale(look), stroke(look), &below).width /
         static_cast<double>(kOversampling);
}

}  // namespace

size_t text_width(std::string_view text, const TextLook& look) {
  return static_cast<size_t>(std::ceil(exact_width(plain(text), look)));
}

void draw_text(Image& image, std::string_view text, double x, double baseline,
               const TextLook& look) {
  const std::string ascii = plain(text);
  if (ascii.empty() || !std::isfinite(x) || !std::isfinite(baseline)) return;
  const double width = exact_width(ascii, look);
  const double part = look.align == Align::kLeft ? 0.0 : look.align == Align::kCentre ? 0.5 : 1.0;
  const double left = x - part * width;
  const Rendered drawn = render(ascii, look, left - std::floor(left));
  lay_on(drawn.coverage, static_cast<int>(std::floor(left)) - drawn.left,
         static_cast<int>(std::lround(baseline)) - drawn.baseline, look.colour, image);
}

void draw_upwards(Image& image, std::string_view text, double x, double centre,
                  const TextLook& look) {
  const std::string ascii = plain(text);
  if (ascii.empty()) return;
  const Rendered drawn = render(ascii, look, 0.0);
  cv::Mat turned;
  cv::rotate(drawn.coverage, turned, cv::ROTATE_90_COUNTERCLOCKWISE);
  lay_on(turned, static_cast<int>(std::lround(x)) - drawn.baseline,
         static_cast<int>(std::lround(centre - turned.rows / 2.0)), look.colour, image);
}

std::string fitting(std::string_view text, size_t width, const TextLook& look) {
  std::string cut = plain(text);
  if (text_width(cut, look) <= width) return cut;
  while (!cut.empty() && text_width(cut + "...", look) > width) cut.pop_back();
  return cut + "...";
}

}  // namespace vit::tools
