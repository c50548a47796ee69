/// Files of rows: one interface to write, read and resume every kind.
#pragma once

#include <atomic>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/check_output.h"
#include "tools/rows/row.h"

namespace vit::tools {

enum class ResultKind { kCsv, kJsonl, kSqlite, kNumpy, kStandardOutput };

/// Those of `wanted`, in this order, with their endings; that of standard output is "-".
OutputKinds<ResultKind> result_kinds(std::initializer_list<ResultKind> wanted);

/// By the ending of the name; "-" is standard output. None: no such kind.
std::optional<ResultKind> result_kind(const std::filesystem::path& path);

/// Replaces a result by a finished one.
void move_result(const std::filesystem::path& from, const std::filesystem::path& to,
                 ResultKind kind);
void remove_result(const std::filesystem::path& path, ResultKind kind);

struct ResultAccess {
  bool read_only = false;  ///< the file must exist and need not be writable
  /// Standard output: OutputStalled is thrown if it is true and the reader does not read.
  const std::atomic<bool>* stop = nullptr;
};

class Results {
 public:
  /// Opens or creates the file.
  Results(const std::filesystem::path& path, ResultKind kind, const RowShape& shape,
          const ResultAccess& access = {});
  ~Results();
  Results(Results&&) noexcept;

  /// The JSON of the existing header; none: the file is new. Must be called first. Throws an Error
  /// if the file is not a file of results.
  std::optional<std::string> read_header();
  /// For an unexpected header: throws DamagedRows if it, or what was read with it, does not match
  /// the checksums. Nothing can be read afterwards.
  void check_damage();
  /// The next existing row; not after append(). Throws an Error if the rows do not
  /// match their checksums.
  std::optional<StoredRow> next();
  /// Makes next() return damaged rows that can be computed again as failed ones.
  void take_damaged_as_failed();

  /// Empties the file and writes the header.
  void start(std::string_view header);
  void append(const Row& row);
  /// Appends the last row from next() of `other`, of the same kind, with this number.
  void append_stored(Results& other, std::uint64_t number);
  /// Afterwards the appended rows survive a kill of this program.
  void flush();
  /// flush(); afterwards they also survive a power failure.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace vit::tools
