// Text of pictures: in the system's fonts, or the plotter's letters where none is installed.
#include <algorithm>
#include <cmath>

#include "tools/draw/canvas.h"
#include "tools/draw/typesetter.h"
#include "tools/output/unicode.h"

namespace vit::tools {
namespace {

constexpr double kSmallest = 0.6;  // of a look, when it is shrunk

double exact_width(std::string_view text, const TextLook& look) {
  return has_fonts() ? set_width(text, look) : plot_width(text, look);
}

/// Bytes of the first `points` characters.
size_t bytes_of(std::string_view text, size_t points) {
  std::string_view rest = text;
  for (size_t i = 0; i < points && !rest.empty(); ++i) take_code_point(rest);
  return text.size() - rest.size();
}

size_t points_of(std::string_view text) {
  size_t points = 0;
  for (; !text.empty(); ++points) take_code_point(text);
  return points;
}

}  // namespace

size_t text_width(std::string_view text, const TextLook& look) {
  return static_cast<size_t>(std::ceil(exact_width(text, look)));
}

void draw_text(Picture& picture, std::string_view text, double x, double baseline,
               const TextLook& look) {
  if (text.empty() || !std::isfinite(x) || !std::isfinite(baseline)) return;
  picture.texts.push_back({std::string(text), x, baseline, look, false});
}

void draw_upwards(Picture& picture, std::string_view text, double x, double centre,
                  const TextLook& look) {
  if (text.empty() || !std::isfinite(x) || !std::isfinite(centre)) return;
  TextLook centred = look;
  centred.align = Align::kCentre;
  picture.texts.push_back({std::string(text), x, centre, centred, true});
}

std::string fitting(std::string_view text, size_t width, const TextLook& look) {
  if (text_width(text, look) <= width) return std::string(text);
  // The longest beginning that fits, by bisection.
  size_t fits = 0, too_long = points_of(text);
  const auto cut = [&](size_t points) {
    return std::string(text.substr(0, bytes_of(text, points))) + "...";
  };
  while (too_long - fits > 1) {
    const size_t middle = fits + (too_long - fits) / 2;
    (text_width(cut(middle), look) <= width ? fits : too_long) = middle;
  }
  return cut(fits);
}

TextLook shrunk(std::string_view text, size_t width, const TextLook& look) {
  const double wanted = exact_width(text, look);
  TextLook fits = look;
  if (wanted > static_cast<double>(width))
    fits.height *= std::max(kSmallest, static_cast<double>(width) / wanted);
  return fits;
}

void draw_within(Picture& picture, std::string_view text, size_t width, double x, double baseline,
                 const TextLook& look) {
  const TextLook fits = shrunk(text, width, look);
  // A pixel more: the widths of shrunk letters are rounded.
  draw_text(picture, fitting(text, width + 1, fits), x, baseline, fits);
}

double left_end(const TextLine& line) {
  const double part = line.look.align == Align::kLeft     ? 0.0
                      : line.look.align == Align::kCentre ? 0.5
                                                          : 1.0;
  const double before = part == 0.0 ? 0.0 : part * exact_width(line.text, line.look);
  return line.upwards ? line.y + before : line.x - before;
}

Image flattened(const Picture& picture) {
  Image image = picture;
  const auto set = has_fonts() ? set_text : plot_text;
  for (const TextLine& line : picture.texts) {
    const double end = left_end(line);
    if (line.upwards)
      set(line.text, std::round(line.x), end, true, line.look, image);
    else
      set(line.text, end, std::round(line.y), false, line.look, image);
  }
  return image;
}

}  // namespace vit::tools
