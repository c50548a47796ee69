/// Text checkpoint to text tower.
#pragma once

#include "vit/text/tower.h"
#include "weights/text.h"

namespace vit {

/// Reads, converts and packs the weights once, except the token table, which stays a view of the
/// checkpoint: a text needs a few rows of it. The checkpoint must live as long as the tower.
text::TextTower load_text_tower(const weights::TextCheckpoint& checkpoint, Isa isa = active_isa());

}  // namespace vit
