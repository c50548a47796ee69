/// Where rows go: one way to write, read and go on with every kind of file.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tools/batch/row.h"

namespace vit::tools {

enum class ResultKind { kCsv, kJsonl, kSqlite, kStandardOutput };

class Results {
 public:
  /// Opens or creates the file.
  Results(const std::filesystem::path& path, ResultKind kind, const RowShape& shape);
  ~Results();
  Results(Results&&) noexcept;

  /// The JSON of the header that is there, none: the file is new. To be called first. Throws an
  /// Error if the file is somebody else's.
  std::optional<std::string> read_header();
  /// The next of the rows that are there, as long as nothing was appended.
  std::optional<StoredRow> next();

  /// Empties the file and writes the header.
  void start(std::string_view header);
  void append(const Row& row);
  /// What was appended is safe from the end of this program.
  void flush();
  /// … and of the machine.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vit::tools
