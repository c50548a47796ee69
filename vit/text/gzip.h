/// Whole text files in memory.
#pragma once

#include <filesystem>
#include <string>

namespace vit::text {

/// Throws an Error: no such file, not readable, too large.
std::string read_text(const std::filesystem::path& path);

/// The same of a gzip file; one that is cut short or damaged is an Error, too.
std::string read_gzip(const std::filesystem::path& path);

}  // namespace vit::text
