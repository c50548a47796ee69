/// Tokenizers as the library "tokenizers" stores them: tokenizer.json.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "vit/text/tokenizer.h"
#include "weights/configs/json.h"

namespace vit::text {

/// The largest published files hold 256,000 pieces and 580,000 merges in 34 MB.
inline constexpr weights::JsonLimits kTokenizerLimits{.bytes = 96 << 20, .values = 4'000'000};

/// Throws an Error naming the file and what it lacks, or the step that this toolkit does not know.
Tokenizer read_tokenizer_json(const std::filesystem::path& path);
Tokenizer parse_tokenizer_json(const nlohmann::json& content, const std::string& where);

}  // namespace vit::text
