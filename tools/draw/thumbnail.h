/// Small pictures of images for pages, and the common style of such pages.
#pragma once

#include <string>
#include <string_view>

#include "patch/image/image.h"

namespace vit::tools {

/// A picture file of at most 240 pixels a side, which is sharp at 160 on high-resolution screens.
/// PNG if the image is that small already, else JPEG.
std::string thumbnail(const patch::Image& image);
/// A picture file as a data: URL.
std::string data_url(std::string_view picture);
/// Text of any bytes for a page.
std::string page_text(std::string_view text);

/// Colours of both themes, type and cards.
extern const std::string_view kSheetStyle;

}  // namespace vit::tools
