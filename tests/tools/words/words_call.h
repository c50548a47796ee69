/// The program on models with a text tower, with a cache folder of its own.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/text_cases.h"
#include "tests/tools/subprocess.h"

namespace vit::tools {

/// A reference case; the test is skipped, visibly, where it is not there.
class Words : public testing::Test {
 protected:
  /// Whether the case is there; CLIP's vocabulary is put into the cache, as vit pull does.
  bool has(const std::string& name);

  Finished vit(const std::vector<std::string>& arguments) const;
  /// vit COMMAND -m MODEL ARGUMENTS…
  Finished on_model(const std::string& command, const std::vector<std::string>& more) const;

  std::string image(size_t index) const;
  /// A file of this folder with this content.
  std::string file(const std::string& name, const std::string& content) const;
  /// --labels and --template as the case has them.
  std::vector<std::string> words() const;
  /// {label: probability} of every image of a JSON document.
  static std::vector<nlohmann::json> answers(const Finished& finished);

  Folder folder;
  std::string model;
  nlohmann::json prompts;
};

}  // namespace vit::tools
