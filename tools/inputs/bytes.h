/// Reading the bytes of inputs in parts.
#pragma once

#include "patch/image/image_bytes.h"
#include "tools/inputs/inputs.h"
#include "vit/data/directory.h"

namespace vit::tools {

/// Reads the file or the member of an archive; for a box, the file of its image. For one thread.
/// Throws an Error that starts with the path, always for a frame of a video. `stop` must outlive
/// it; it ends a read in an archive with patch::WaitStopped.
patch::ByteSource source_of(const Input& input, const std::atomic<bool>& stop = data::kNeverStop);

}  // namespace vit::tools
