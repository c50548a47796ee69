#include "tools/draw/heading.h"

namespace vit::tools {

void draw_heading(Image& image, const Heading& heading, size_t margin) {
  const size_t room = image.width - 2 * margin;
  const TextLook title{.height = 16.0, .bold = true};
  const TextLook detail{.height = 11.0, .colour = kFaintInk};
  draw_text(image, fitting(heading.title, room, title), static_cast<double>(margin), 34.0, title);
  draw_text(image, fitting(heading.detail, room, detail), static_cast<double>(margin), 58.0,
            detail);
}

}  // namespace vit::tools
