/// The title above a picture.
#pragma once

#include <cstddef>
#include <string>

#include "tools/draw/canvas.h"

namespace vit::tools {

/// Two lines: what the picture shows, and details in small type.
struct Heading {
  std::string title;
  std::string detail;
};
constexpr std::size_t kHeadingHeight = 74;
/// Pixels that a picture needs for all of it, up to 1,600.
std::size_t heading_width(const Heading& heading, std::size_t margin);
/// At the top of the picture, between `margin` and its right end.
void draw_heading(Picture& picture, const Heading& heading, std::size_t margin);

}  // namespace vit::tools
