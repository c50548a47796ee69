/// Text in the fonts of the system (FreeType), with every character that any of them has.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "tools/draw/canvas.h"

namespace vit::tools {

/// Receives outlines in pixels, y downwards: M x y, L x y, C x1 y1 x2 y2 x y, Z.
struct OutlineSink {
  std::function<void(double x, double y)> move;
  std::function<void(double x, double y)> line;
  std::function<void(double x1, double y1, double x2, double y2, double x, double y)> curve;
  std::function<void()> close;
};

/// False: no font is installed, and OpenCV's plotter font is used.
bool has_fonts();

/// Advance of the text in pixels.
double set_width(std::string_view text, const TextLook& look);
/// Draws the text with its left end at `x`; upwards: with its lower end at `baseline`, along the
/// vertical line `x`.
void set_text(std::string_view text, double x, double baseline, bool upwards, const TextLook& look,
              Image& image);
void outline_text(std::string_view text, double x, double baseline, bool upwards,
                  const TextLook& look, const OutlineSink& sink);

/// Without fonts: OpenCV's plotter font, which has ASCII only; other characters become [65E5].
double plot_width(std::string_view text, const TextLook& look);
void plot_text(std::string_view text, double x, double baseline, bool upwards, const TextLook& look,
               Image& image);

/// Where the line begins: its left end, or for one that reads upwards its lower end.
double left_end(const TextLine& line);

/// "[65E5]": legible where no font has the character.
std::string code_of(char32_t point);

}  // namespace vit::tools
