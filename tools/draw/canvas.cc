#include "tools/draw/canvas.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "patch/image/codecs.h"
#include "tools/draw/vector_file.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

/// OpenCV's view of the same pixels.
cv::Mat mat_of(const Image& image) {
  return {static_cast<int>(image.height), static_cast<int>(image.width), CV_8UC3,
          const_cast<std::uint8_t*>(image.pixels.data())};
}

void blend(std::uint8_t* pixel, Colour colour, double part) {
  for (size_t c = 0; c < 3; ++c)
    pixel[c] = static_cast<std::uint8_t>(std::lround(pixel[c] * (1.0 - part) + colour[c] * part));
}

}  // namespace

Image blank(size_t width, size_t height, Colour colour) {
  Image image{width, height, std::vector<std::uint8_t>(width * height * 3)};
  fill(image, {0, 0, width, height}, colour);
  return image;
}

void fill(Image& image, const Box& box, Colour colour) {
  const size_t right = std::min(box.x + box.width, image.width);
  const size_t bottom = std::min(box.y + box.height, image.height);
  for (size_t y = box.y; y < bottom; ++y)
    for (size_t x = box.x; x < right; ++x) std::copy_n(colour.data(), 3, image.row(y) + 3 * x);
}

void frame(Image& image, const Box& box, size_t thickness, Colour colour) {
  const size_t t = std::min({thickness, box.width, box.height});
  fill(image, {box.x, box.y, box.width, t}, colour);
  fill(image, {box.x, box.y + box.height - t, box.width, t}, colour);
  fill(image, {box.x, box.y, t, box.height}, colour);
  fill(image, {box.x + box.width - t, box.y, t, box.height}, colour);
}

void paste(const Image& from, size_t x, size_t y, Image& onto) {
  if (x >= onto.width) return;
  const size_t width = std::min(from.width, onto.width - x);
  for (size_t r = 0; r < from.height && y + r < onto.height; ++r)
    std::copy_n(from.row(r), 3 * width, onto.row(y + r) + 3 * x);
}

void disc(Image& image, double x, double y, double radius, Colour colour, double opacity) {
  if (!std::isfinite(x) || !std::isfinite(y)) return;
  const auto first = [](double v) { return static_cast<size_t>(std::max(0.0, std::floor(v))); };
  const size_t right = std::min(first(x + radius + 2.0), image.width);
  const size_t bottom = std::min(first(y + radius + 2.0), image.height);
  for (size_t r = first(y - radius - 1.0); r < bottom; ++r)
    for (size_t c = first(x - radius - 1.0); c < right; ++c) {
      const double away =
          std::hypot(static_cast<double>(c) + 0.5 - x, static_cast<double>(r) + 0.5 - y);
      const double part = std::clamp(radius - away + 0.5, 0.0, 1.0) * opacity;
      if (part > 0.0) blend(image.row(r) + 3 * c, colour, part);
    }
}

void polyline(Image& image, std::span<const Place> places, double thickness, Colour colour) {
  if (places.size() == 1) disc(image, places[0].x, places[0].y, 2.0 * thickness, colour);
  constexpr int kShift = 4;  // OpenCV's coordinates are sixteenths of a pixel
  std::vector<cv::Point> points;
  for (const Place& place : places)
    points.emplace_back(static_cast<int>(std::lround(place.x * (1 << kShift))),
                        static_cast<int>(std::lround(place.y * (1 << kShift))));
  if (points.size() < 2) return;
  cv::Mat pixels = mat_of(image);
  cv::polylines(pixels, points, false, cv::Scalar(colour[0], colour[1], colour[2]),
                static_cast<int>(std::lround(thickness)), cv::LINE_AA, kShift);
}

Image scaled(const Image& image, size_t width, size_t height) {
  Image out = blank(std::max<size_t>(width, 1), std::max<size_t>(height, 1));
  cv::Mat to = mat_of(out);
  const bool shrinks = width < image.width;
  cv::resize(mat_of(image), to, to.size(), 0.0, 0.0, shrinks ? cv::INTER_AREA : cv::INTER_NEAREST);
  return out;
}

std::string encode_picture(const Picture& picture, const std::string& ending) {
  if (ending == ".svg") return svg_of(picture);
  if (ending == ".pdf") return pdf_of(picture);
  return encode_picture(flattened(picture), ending);
}

std::string encode_picture(const Image& image, const std::string& ending) {
  const std::vector<std::uint8_t> bytes = patch::encoders().encode(image, ending);
  if (bytes.empty())
    fail("cannot make a picture of ", image.width, "x", image.height, " pixels as ", ending);
  return {bytes.begin(), bytes.end()};
}

}  // namespace vit::tools
