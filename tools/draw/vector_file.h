/// Pictures as files in which text stays sharp at any size: pixels with shapes over them.
#pragma once

#include <string>

#include "tools/draw/canvas.h"

namespace vit::tools {

/// The pixels as an embedded PNG, the text as <text>, so that it can be searched and edited.
std::string svg_of(const Picture& picture);

/// One page of the picture's size at 96 pixels per inch; the text as outlines, so that the file
/// needs no fonts.
std::string pdf_of(const Picture& picture);

}  // namespace vit::tools
