/// Picked images as text, CSV, JSON and a contact sheet.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/draw/contact_sheet.h"
#include "tools/output/json.h"
#include "vit/index/file.h"

namespace vit::tools {

struct Pick {
  size_t row = 0;
  float score = 0.0f;     ///< see PickReport::by
  std::string guesses{};  ///< of a classifier
};

enum class PickBy {
  kDiverse,    ///< the score is the largest similarity to a labelled or earlier picked image
  kUncertain,  ///< the score is how unsure the classifier is, 0 to 1
};

struct PickReport {
  const std::filesystem::path& path;  ///< of the index
  const index::Index& index;
  PickBy by = PickBy::kDiverse;
  std::vector<Pick> picks{};  ///< the most useful first
};

std::string pick_text(const PickReport& report);
std::string pick_csv(const PickReport& report);
Json pick_json(const PickReport& report);
ContactSheet pick_sheet(const PickReport& report);

}  // namespace vit::tools
