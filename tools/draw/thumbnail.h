/// Small pictures of images for pages, and the look that pages of them have in common.
#pragma once

#include <string>
#include <string_view>

#include "patch/image/image.h"

namespace vit::tools {

/// A picture file of at most 240 pixels a side: sharp on dense screens at 160. JPEG; PNG where the
/// image is that small already.
std::string thumbnail(const patch::Image& image);
/// A picture file as a data: URL.
std::string data_url(std::string_view picture);
/// Text of any bytes for a page.
std::string page_text(std::string_view text);

/// Colours of both themes, type and cards.
extern const std::string_view kSheetStyle;

}  // namespace vit::tools
