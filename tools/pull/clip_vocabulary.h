/// CLIP's vocabulary, for checkpoints of OpenCLIP that come without tokenizer files.
#pragma once

#include "tools/pull/hub.h"

namespace vit::tools {

/// Fetches the vocabulary from OpenAI's repository into the cache of models, unless it is there.
/// $VIT_CLIP_VOCABULARY names another address. Prints a line. Throws an Error if the content is not
/// OpenAI's, by its sha256, and then keeps nothing.
void fetch_clip_vocabulary(HttpClient& client, const HubSettings& settings);

}  // namespace vit::tools
