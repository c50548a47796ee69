/// Groups of duplicates as text, CSV, JSON and a contact sheet.
#pragma once

#include <filesystem>
#include <string>

#include "tools/draw/contact_sheet.h"
#include "tools/duplicates/groups.h"
#include "tools/output/json.h"

namespace vit::tools {

struct DuplicatesReport {
  const std::filesystem::path& path;  ///< of the index
  const index::Index& index;
  float threshold = 0.0f;
  const Duplicates& found;
};

/// "100 images, 12 groups of duplicates, 20 images (3.4 MB) that could go"
std::string duplicates_summary(const Duplicates& found);

std::string duplicates_text(const DuplicatesReport& report);
std::string duplicates_csv(const DuplicatesReport& report);
Json duplicates_json(const DuplicatesReport& report);
/// The first `groups` groups.
ContactSheet duplicates_sheet(const DuplicatesReport& report, size_t groups);

}  // namespace vit::tools
