/// Tables by RFC 4180: fields with commas, quotes or line breaks are quoted.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vit::tools {

/// A field, quoted if necessary.
std::string csv_field(std::string_view text);

/// A text that spreadsheets do not read as a formula: one that begins with = + - @, a tab or a
/// carriage return gets an apostrophe in front, as does one that looks like the result, so that
/// csv_original() can remove it again.
std::string csv_harmless(std::string_view text);
std::string csv_original(std::string_view text);

/// The fields of a record, with or without its line break, without their quotes; none if a quote is
/// never closed.
std::optional<std::vector<std::string>> csv_fields(std::string_view record);

/// Reads a file record by record, with LF or CRLF; a byte order mark at the beginning and
/// empty lines are skipped.
class CsvReader {
 public:
  /// Throws an Error if the file cannot be opened.
  explicit CsvReader(const std::string& path);

  /// None at the end. Throws an Error with the line where a quote is never closed or a record has
  /// more than 1 MB.
  std::optional<std::vector<std::string>> next();
  /// The first line of the last record, from 1.
  std::uint64_t line() const { return line_; }

 private:
  std::vector<std::string> read_record(std::string_view first_line);
  /// The next line without its break; false at the end. `before`: bytes of its record so far.
  bool read_line(std::string& text, std::size_t before);

  std::string path_;
  std::ifstream file_;
  std::uint64_t line_ = 0;
  std::uint64_t lines_read_ = 0;
};

}  // namespace vit::tools
