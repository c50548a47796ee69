/// The bytes of inputs, part by part.
#pragma once

#include "patch/image/image_bytes.h"
#include "tools/batch/inputs/inputs.h"

namespace vit::tools {

/// Of the file, or of the member; of a box those of its image. For one thread. Throws an Error that
/// starts with the path, for frames of videos, too.
patch::ByteSource source_of(const Input& input);

}  // namespace vit::tools
