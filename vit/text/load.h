/// The tokenizer that belongs to a text tower.
#pragma once

#include <filesystem>
#include <span>

#include "vit/text/tokenizer.h"
#include "weights/text.h"

namespace vit::text {

/// From the files beside the weights. `clip_vocabularies` are further files that may hold CLIP's
/// list of merges; those that do not exist are passed over. Throws an Error naming the folder and
/// the files it could have (a MissingDownload where CLIP's are missing), or the file that is
/// broken.
Tokenizer load_tokenizer(const weights::TextCheckpoint& text,
                         std::span<const std::filesystem::path> clip_vocabularies = {});

}  // namespace vit::text
