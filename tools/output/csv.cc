#include "tools/output/csv.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "vit/base/error.h"

namespace vit::tools {
namespace {

/// The fields of a record that is read line by line: a line that ends within quotes continues.
struct Scanner {
  std::vector<std::string> fields{1};
  bool quoted = false;
  bool begun = false;  ///< the current field has a character or was in quotes

  void feed(std::string_view text) {
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (quoted && c == '"' && text.substr(i + 1).starts_with('"')) {
        fields.back() += text[++i];
      } else if (quoted && c == '"') {
        quoted = false;
      } else if (quoted) {
        fields.back() += c;
      } else if (c == '"' && !begun) {
        quoted = begun = true;
      } else if (c == ',') {
        fields.emplace_back();
        begun = false;
      } else if (c != '\r' || i + 1 != text.size()) {
        fields.back() += c;
        begun = true;
      }
    }
  }
};

/// A formula, possibly after apostrophes.
bool like_formula(std::string_view text) {
  const size_t first = text.find_first_not_of('\'');
  return first != text.npos && std::string_view("=+-@\t\r").find(text[first]) != text.npos;
}

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string csv_harmless(std::string_view text) {
  return (like_formula(text) ? "'" : "") + std::string(text);
}

std::string csv_original(std::string_view text) {
  return std::string(text.starts_with('\'') && like_formula(text) ? text.substr(1) : text);
}

std::optional<std::vector<std::string>> csv_fields(std::string_view record) {
  if (record.ends_with('\n')) record.remove_suffix(1);
  Scanner scanner;
  scanner.feed(record);
  if (scanner.quoted) return std::nullopt;
  return std::move(scanner.fields);
}

CsvReader::CsvReader(const std::string& path) : path_(path), file_(path, std::ios::binary) {
  if (!file_) fail_at(path, "cannot read: ", std::strerror(errno));
}

std::optional<std::vector<std::string>> CsvReader::next() {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  for (std::string text; read_line(text, 0);) {
    line_ = lines_read_;
    if (line_ == 1 && text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
    if (!text.empty() && text != "\r") return read_record(text);
  }
  if (file_.bad()) fail_at(path_, "cannot read: ", std::strerror(errno));
  return std::nullopt;
}

std::vector<std::string> CsvReader::read_record(std::string_view first_line) {
  Scanner scanner;
  scanner.feed(first_line);
  size_t length = first_line.size();
  for (std::string more; scanner.quoted; scanner.feed(more)) {
    if (!read_line(more, length))
      fail_at(path_, "line ", line_, ": a quote is opened and never closed");
    length += more.size() + 1;
    scanner.fields.back() += '\n';
  }
  return std::move(scanner.fields);
}

bool CsvReader::read_line(std::string& text, size_t before) {
  constexpr size_t kLongestRecord = size_t{1} << 20;
  text.clear();
  std::array<char, 4096> part;
  do {
    file_.clear(file_.rdstate() & ~std::ios::failbit);  // set where a part is full
    file_.getline(part.data(), part.size());
    const auto count = static_cast<size_t>(file_.gcount());
    if (count == 0) return false;
    // The line break is counted, not stored; a line that fills the part or ends the file has none.
    text.append(part.data(), file_.good() ? count - 1 : count);
    if (before + text.size() > kLongestRecord)
      fail_at(path_, "line ", lines_read_ + 1, ": a record of more than ", kLongestRecord,
              " bytes; is this a table?");
  } while (file_.fail() && !file_.eof());
  ++lines_read_;
  return true;
}

}  // namespace vit::tools
