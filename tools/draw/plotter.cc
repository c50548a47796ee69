// OpenCV's plotter font, drawn several times larger and averaged down: even strokes, smooth
// edges, and sub-pixel positions. For machines without a font.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <opencv2/imgproc.hpp>

#include "tools/draw/typesetter.h"
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
    const char32_t point = take_code_point(text).value_or(U'\uFFFD');
    if (point >= 0x20 && point < 0x7F)
      ascii += static_cast<char>(point);
    else
      ascii += code_of(point);
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

int whole(double value) {
  return static_cast<int>(std::lround(value));
}

}  // namespace

std::string code_of(char32_t point) {
  char text[16];
  std::snprintf(text, sizeof text, "[%04X]", static_cast<unsigned>(point));
  return text;
}

double plot_width(std::string_view text, const TextLook& look) {
  int below = 0;
  return cv::getTextSize(plain(text), kFont, font_scale(look), stroke(look), &below).width /
         static_cast<double>(kOversampling);
}

void plot_text(std::string_view text, double x, double baseline, bool upwards, const TextLook& look,
               Image& image) {
  const std::string ascii = plain(text);
  if (ascii.empty()) return;
  const Rendered drawn = render(ascii, look, upwards ? 0.0 : x - std::floor(x));
  if (!upwards) {
    const int left = static_cast<int>(std::floor(x)) - drawn.left;
    return lay_on(drawn.coverage, left, whole(baseline) - drawn.baseline, look.colour, image);
  }
  cv::Mat turned;
  cv::rotate(drawn.coverage, turned, cv::ROTATE_90_COUNTERCLOCKWISE);
  lay_on(turned, whole(x) - drawn.baseline, whole(baseline) + drawn.left - turned.rows, look.colour,
         image);
}

}  // namespace vit::tools
