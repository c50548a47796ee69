/// The header of a CSV or JSONL file, in "FILE.run.json" beside it: the file itself has nothing but
/// rows.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace vit::tools {

std::filesystem::path header_file_of(const std::filesystem::path& rows);

struct StoredHeader {
  std::string text;    ///< a JSON object
  bool intact = true;  ///< it matches its checksum, or has none
};

/// None: there is no such file. Throws an Error if it cannot be read.
std::optional<StoredHeader> read_header_file(const std::filesystem::path& rows);
/// `header` is a JSON object on one line.
void write_header_file(const std::filesystem::path& rows, std::string_view header);

}  // namespace vit::tools
