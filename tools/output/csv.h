/// Tables as RFC 4180 has them: fields with commas, quotes or line breaks stand in quotes.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vit::tools {

/// A field, in quotes where it needs them.
std::string csv_field(std::string_view text);

/// A text that spreadsheets do not take for a formula: one that begins with = + - @, a tab or a
/// carriage return has an apostrophe before it. So has one that looks like the result, so that
/// csv_original() can take it away again.
std::string csv_harmless(std::string_view text);
std::string csv_original(std::string_view text);

/// The fields of a record, with or without its line break, without their quotes; none if a quote is
/// never closed.
std::optional<std::vector<std::string>> csv_fields(std::string_view record);

/// A file's records, one after the other, never the whole file. Both kinds of line ends; a byte
/// order mark at the beginning and empty lines are passed over.
class CsvReader {
 public:
  /// Throws an Error if the file cannot be opened.
  explicit CsvReader(const std::string& path);

  /// None at the end. Throws an Error with the line where a quote is never closed.
  std::optional<std::vector<std::string>> next();
  /// Where the record that next() gave last begins, from 1.
  std::uint64_t line() const { return line_; }

 private:
  std::vector<std::string> read_record(std::string_view first_line);

  std::string path_;
  std::ifstream file_;
  std::uint64_t line_ = 0;
  std::uint64_t lines_read_ = 0;
};

}  // namespace vit::tools
