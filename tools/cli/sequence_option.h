/// --max-patches: each image on a patch grid of its own aspect ratio.
#pragma once

#include <memory>

#include "tools/cli/model_options.h"
#include "vit/model/sequence.h"

namespace vit::tools {

/// --max-patches, in the group "Image".
void add_sequence_option(cxxopts::Options& options);

/// 0 if it is not given. Throws a UsageError if another input size is given as well.
size_t parse_max_patches(const cxxopts::ParseResult& arguments);

/// Null for 0.
std::unique_ptr<SequenceModel> load_sequence_model(const ModelSettings& settings,
                                                   size_t max_patches);

}  // namespace vit::tools
