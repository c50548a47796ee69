/// The log of a run as TensorBoard reads it: an event file, records with checksums of messages in
/// the encoding of protocol buffers.
#pragma once

#include <filesystem>
#include <vector>

#include "vit/train/trainer.h"

namespace vit::tools {

/// Appends the epochs that are not in the file yet, so that a running TensorBoard sees them; a file
/// with anything else is replaced. `start`: seconds since 1970 at which the first epoch began.
void write_events(const std::filesystem::path& folder, const std::vector<train::EpochRow>& history,
                  double start);

}  // namespace vit::tools
