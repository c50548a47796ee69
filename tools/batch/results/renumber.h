/// Rows whose numbers are not their places in the file, as earlier versions have written them.
#pragma once

#include <filesystem>

#include "tools/batch/results/results.h"
#include "tools/batch/results/sums.h"

namespace vit::tools {

/// A row's number is not its place.
class Misnumbered : public DamagedRows {
 public:
  using DamagedRows::DamagedRows;
};

/// Makes a new file of the rows with their places as numbers, which takes the old one's name.
void renumber(const std::filesystem::path& path, ResultKind kind, const RowShape& shape);

}  // namespace vit::tools
