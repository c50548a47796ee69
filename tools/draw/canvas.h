/// Drawing on plain RGB images: boxes, other pictures and text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "patch/image/image.h"
#include "tools/draw/colormap.h"

namespace vit::tools {

using patch::Image;
using std::size_t;

constexpr Colour kPaper{255, 255, 255};
constexpr Colour kInk{28, 30, 34};
constexpr Colour kFaintInk{110, 116, 126};
constexpr Colour kRule{222, 225, 230};

struct Box {
  size_t x = 0;
  size_t y = 0;
  size_t width = 0;
  size_t height = 0;
};

Image blank(size_t width, size_t height, Colour colour = kPaper);

/// Parts outside of the picture are clipped.
void fill(Image& image, const Box& box, Colour colour);
/// A frame of `thickness` pixels just inside the box.
void frame(Image& image, const Box& box, size_t thickness, Colour colour);
void paste(const Image& from, size_t x, size_t y, Image& onto);
/// A filled circle with a smooth edge. `opacity` from 0 to 1.
void disc(Image& image, double x, double y, double radius, Colour colour, double opacity = 1.0);

struct Place {
  double x = 0.0;
  double y = 0.0;
};
/// A line through the places, with smooth edges; a dot if there is only one.
void polyline(Image& image, std::span<const Place> places, double thickness, Colour colour);

Image scaled(const Image& image, size_t width, size_t height);

enum class Align { kLeft, kCentre, kRight };

struct TextLook {
  double height = 10.0;  ///< of a capital letter, in pixels
  Colour colour = kInk;
  bool bold = false;
  Align align = Align::kLeft;
};

/// A picture and its text. PNG and JPEG get the text drawn over the pixels; SVG has it as text, PDF
/// as outlines.
struct TextLine {
  std::string text{};
  double x = 0.0;
  double y = 0.0;
  TextLook look{};
  bool upwards = false;
};
struct Picture : Image {
  std::vector<TextLine> texts{};
};

/// Pixels that the text takes.
size_t text_width(std::string_view text, const TextLook& look);
/// Capital letters stand on `baseline`; `x` is the left end, the centre or the right end.
void draw_text(Picture& picture, std::string_view text, double x, double baseline,
               const TextLook& look);
/// The same, reading upwards along the vertical line `x`, around the height `centre`.
void draw_upwards(Picture& picture, std::string_view text, double x, double centre,
                  const TextLook& look);
/// Cut with "..." at the end to fit.
std::string fitting(std::string_view text, size_t width, const TextLook& look);
/// The largest size that fits, from `look` down to three fifths of it.
TextLook shrunk(std::string_view text, size_t width, const TextLook& look);
/// Shrunk, and cut if that is not enough.
void draw_within(Picture& picture, std::string_view text, size_t width, double x, double baseline,
                 const TextLook& look);
/// The pixels with the text.
Image flattened(const Picture& picture);

/// The bytes of a picture file; `ending` is ".png", ".jpg" or ".jpeg"; with text also ".svg",
/// ".pdf".
std::string encode_picture(const Image& image, const std::string& ending);
std::string encode_picture(const Picture& picture, const std::string& ending);

}  // namespace vit::tools
