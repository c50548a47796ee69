/// Reading the bytes of inputs in parts.
#pragma once

#include "patch/image/image_bytes.h"
#include "tools/inputs/inputs.h"

namespace vit::tools {

/// Reads the file or the member of an archive; for a box, the file of its image. For one thread.
/// Throws an Error that starts with the path, always for a frame of a video.
patch::ByteSource source_of(const Input& input);

}  // namespace vit::tools
