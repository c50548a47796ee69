/// Where rows go: one way to write, read and go on with every kind of file.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/batch/results/row.h"

namespace vit::tools {

enum class ResultKind { kCsv, kJsonl, kSqlite, kNumpy, kStandardOutput };

/// By the ending of the name, "-" is standard output. None: no such kind.
std::optional<ResultKind> result_kind(const std::filesystem::path& path);

/// Puts a finished result in the place of another.
void move_result(const std::filesystem::path& from, const std::filesystem::path& to,
                 ResultKind kind);
void remove_result(const std::filesystem::path& path, ResultKind kind);

struct ResultAccess {
  bool read_only = false;  ///< the file must be there and need not be writable
  /// Standard output: where it is true and nobody takes the rows, OutputStalled is thrown.
  const std::atomic<bool>* stop = nullptr;
};

class Results {
 public:
  /// Opens or creates the file.
  Results(const std::filesystem::path& path, ResultKind kind, const RowShape& shape,
          const ResultAccess& access = {});
  ~Results();
  Results(Results&&) noexcept;

  /// The JSON of the header that is there, none: the file is new. To be called first. Throws an
  /// Error if the file is somebody else's.
  std::optional<std::string> read_header();
  /// For a header that is not the expected one: throws DamagedRows if it, or what was read with it,
  /// is not what was written, by the checksums. Nothing can be read afterwards.
  void check_damage();
  /// The next of the rows that are there, as long as nothing was appended. Throws an Error if they
  /// are not what was written, by their checksums.
  std::optional<StoredRow> next();
  /// next() gives rows that are damaged and can be computed again as failed ones.
  void take_damaged_as_failed();

  /// Empties the file and writes the header.
  void start(std::string_view header);
  void append(const Row& row);
  /// Appends the row that next() of `other`, of the same kind, gave, with this number.
  void append_stored(Results& other, std::uint64_t number);
  /// What was appended is safe from the end of this program.
  void flush();
  /// … and of the machine.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vit::tools
