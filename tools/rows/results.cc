#include "tools/rows/results.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <variant>

#include "tools/rows/header_file.h"
#include "tools/rows/numpy_file.h"
#include "tools/rows/sqlite_file.h"
#include "tools/rows/sums.h"
#include "tools/rows/text_file.h"
#include "vit/base/atomic_file.h"
#include "vit/base/error.h"

namespace vit::tools {

namespace fs = std::filesystem;

OutputKinds<ResultKind> result_kinds(std::initializer_list<ResultKind> wanted) {
  using enum ResultKind;
  static const OutputKinds<ResultKind> all{{".csv", kCsv},
                                           {".jsonl", kJsonl},
                                           {".db", kSqlite},
                                           {".npy", kNumpy},
                                           {"-", kStandardOutput}};
  OutputKinds<ResultKind> kinds;
  for (const ResultKind kind : wanted)
    kinds.push_back(
        *std::ranges::find(all, kind, &std::pair<std::string_view, ResultKind>::second));
  return kinds;
}

std::optional<ResultKind> result_kind(const fs::path& path) {
  using enum ResultKind;
  return find_by_ending(path, result_kinds({kCsv, kJsonl, kSqlite, kNumpy, kStandardOutput}));
}

namespace {

/// The files that hold the rows.
std::vector<fs::path> row_files(const fs::path& path, ResultKind kind) {
  if (kind == ResultKind::kNumpy) return {path, sidecar_of(path)};
  return {path};
}

/// The file that has its header and its checksums in files beside it; a database stores its own.
std::optional<fs::path> summed_file(const fs::path& path, ResultKind kind) {
  if (kind == ResultKind::kSqlite) return std::nullopt;
  return row_files(path, kind).back();
}

/// SQLite's side files, which it applies to any database of this name.
constexpr std::array kDatabaseSideFiles{"-wal", "-shm", "-journal"};

/// The new file gets the permissions of the old one.
void rename_file(const fs::path& from, const fs::path& to) {
  struct stat status {};
  if (stat(to.c_str(), &status) == 0) {
    [[maybe_unused]] const int owned = ::chown(from.c_str(), status.st_uid, status.st_gid);
    [[maybe_unused]] const int allowed = ::chmod(from.c_str(), status.st_mode & 0777);
  }
  if (::rename(from.c_str(), to.c_str()) != 0)
    fail_at(to.string(), "cannot write: ", std::strerror(errno));
}

}  // namespace

void move_result(const fs::path& from, const fs::path& to, ResultKind kind) {
  const auto sources = row_files(from, kind), places = row_files(to, kind);
  const auto summed = summed_file(from, kind), summed_place = summed_file(to, kind);
  // Rows without checksums are accepted, rows with wrong checksums are refused: a kill in between
  // must leave the former.
  std::error_code ignored;
  if (summed_place) fs::remove(sums_of(*summed_place), ignored);
  if (kind == ResultKind::kSqlite) {
    // The log of the old database must not be replayed into the new one. It is first
    // checkpointed into the old file, in case the rename does not follow.
    if (fs::exists(to.string() + "-wal", ignored)) SqliteFile::settle(to);
    for (const auto* ending : kDatabaseSideFiles) fs::remove(to.string() + ending, ignored);
  }
  // The header goes first: rows of an earlier version, which have one among them, do not need it.
  if (summed) rename_file(header_file_of(*summed), header_file_of(*summed_place));
  for (size_t i = 0; i < sources.size(); ++i) rename_file(sources[i], places[i]);
  if (summed) rename_file(sums_of(*summed), sums_of(*summed_place));
  sync_folder_of(to);
}

void remove_result(const fs::path& path, ResultKind kind) {
  std::error_code ignored;
  if (const auto summed = summed_file(path, kind)) fs::remove(sums_of(*summed), ignored);
  for (const auto& file : row_files(path, kind)) fs::remove(file, ignored);
  if (const auto summed = summed_file(path, kind)) fs::remove(header_file_of(*summed), ignored);
  if (kind != ResultKind::kSqlite) return;
  for (const auto* ending : kDatabaseSideFiles) fs::remove(path.string() + ending, ignored);
}

struct Results::State {
  std::variant<std::monostate, TextFile, SqliteFile, NumpyFile> file;
  fs::path path{};  ///< empty: standard output

  template <typename Use>
  auto use(const Use& use) {
    if (auto* text = std::get_if<TextFile>(&file)) return use(*text);
    if (auto* database = std::get_if<SqliteFile>(&file)) return use(*database);
    return use(std::get<NumpyFile>(file));
  }
};

Results::Results(const std::filesystem::path& path, ResultKind kind, const RowShape& shape,
                 const ResultAccess& access)
    : state_(std::make_unique<State>()) {
  auto& file = state_->file;
  if (kind != ResultKind::kStandardOutput) state_->path = path;
  if (kind == ResultKind::kSqlite)
    file.emplace<SqliteFile>(path, shape, access.read_only);
  else if (kind == ResultKind::kNumpy)
    file.emplace<NumpyFile>(path, shape, access.read_only);
  else if (kind == ResultKind::kStandardOutput)
    file.emplace<TextFile>(TextFormat::kJsonl, shape, access.stop);
  else
    file.emplace<TextFile>(path, kind == ResultKind::kCsv ? TextFormat::kCsv : TextFormat::kJsonl,
                           shape, access.read_only);
}
Results::~Results() = default;
Results::Results(Results&&) noexcept = default;

std::optional<std::string> Results::read_header() {
  return state_->use([](auto& file) { return file.read_header(); });
}
void Results::check_damage() {
  state_->use([](auto& file) { file.check_damage(); });
}
std::optional<StoredRow> Results::next() {
  return state_->use([](auto& file) { return file.next(); });
}
void Results::start(std::string_view header) {
  state_->use([&](auto& file) { file.start(header); });
}
void Results::append(const Row& row) {
  state_->use([&](auto& file) { file.append(row); });
}
void Results::take_damaged_as_failed() {
  if (auto* numbers = std::get_if<NumpyFile>(&state_->file)) numbers->take_damaged_as_failed();
}
void Results::append_stored(Results& other, std::uint64_t number) {
  state_->use([&](auto& file) {
    file.append_stored(std::get<std::remove_reference_t<decltype(file)>>(other.state_->file),
                       number);
  });
}
void Results::flush() {
  state_->use([](auto& file) { file.flush(); });
}
void Results::finish() {
  state_->use([](auto& file) { file.finish(); });
  // The run that created the file may have been killed before the folder was synced.
  if (!state_->path.empty()) sync_folder_of(state_->path);
}

}  // namespace vit::tools
