/// Two-tower models with the results and the files of the original programs.
#pragma once

#include <filesystem>
#include <string>

#include "tests/support/paths.h"

namespace vit::test {

/// One case is part of the repository; the others lie beside it, because their vocabularies belong
/// to others: skip visibly where the folder does not exist.
inline std::filesystem::path text_case(const std::string& name) {
  const auto own = source_dir() / "tests" / "text" / "goldens" / name;
  return std::filesystem::exists(own) ? own : shared() / "goldens" / "text" / name;
}

/// What a user gives as a model: a single file where that is what is published.
inline std::filesystem::path text_model(const std::string& name) {
  const auto folder = text_case(name);
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".pt") return entry.path();
  return folder;
}

inline std::filesystem::path clip_vocabulary() {
  return shared() / "goldens" / "text" / "tokenizers" / "bpe_simple_vocab_16e6.txt.gz";
}

inline constexpr const char* kTextCases[] = {
    "openai_clip",    "openai_clip_jit",     "hf_clip",          "hf_clip_eos", "open_clip_vit",
    "open_clip_timm", "open_clip_timm_head", "open_clip_siglip", "hf_siglip",   "hf_siglip2"};

}  // namespace vit::test
