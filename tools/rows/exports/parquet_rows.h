/// The rows of a `vit batch` as a table in Apache Parquet's format.
#pragma once

#include <filesystem>

#include "tools/rows/class_rows.h"

namespace vit::tools {

/// Writes the whole file or nothing. Returns the number of rows.
std::uint64_t write_parquet(const ClassRows& source, const std::filesystem::path& output);

}  // namespace vit::tools
