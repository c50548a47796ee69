#include "tools/draw/heading.h"

#include <algorithm>

namespace vit::tools {
namespace {

constexpr TextLook kTitle{.height = 16.0, .bold = true};
constexpr TextLook kDetail{.height = 11.0, .colour = kFaintInk};
constexpr size_t kWidest = 1600;

}  // namespace

size_t heading_width(const Heading& heading, size_t margin) {
  const size_t text =
      std::max(text_width(heading.title, kTitle), text_width(heading.detail, kDetail));
  return std::min(text + 2 * margin, kWidest);
}

void draw_heading(Picture& picture, const Heading& heading, size_t margin) {
  const size_t room = picture.width - std::min(picture.width, 2 * margin);
  const auto left = static_cast<double>(margin);
  draw_within(picture, heading.title, room, left, 34.0, kTitle);
  draw_within(picture, heading.detail, room, left, 58.0, kDetail);
}

}  // namespace vit::tools
