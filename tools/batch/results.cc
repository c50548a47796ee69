#include "tools/batch/results.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <variant>

#include "tools/batch/numpy_file.h"
#include "tools/batch/sqlite_file.h"
#include "tools/batch/text_file.h"
#include "vit/base/error.h"

namespace vit::tools {

namespace fs = std::filesystem;

std::optional<ResultKind> result_kind(const fs::path& path) {
  if (path == "-") return ResultKind::kStandardOutput;
  const auto ending = path.extension();
  if (ending == ".csv") return ResultKind::kCsv;
  if (ending == ".jsonl") return ResultKind::kJsonl;
  if (ending == ".db") return ResultKind::kSqlite;
  if (ending == ".npy") return ResultKind::kNumpy;
  return std::nullopt;
}

std::vector<fs::path> result_files(const fs::path& path, ResultKind kind) {
  if (kind == ResultKind::kNumpy) return {path, sidecar_of(path)};
  return {path};
}

void move_result(const fs::path& from, const fs::path& to, ResultKind kind) {
  const auto sources = result_files(from, kind), places = result_files(to, kind);
  for (size_t i = 0; i < sources.size(); ++i)
    if (::rename(sources[i].c_str(), places[i].c_str()) != 0)
      fail(places[i].string(), ": cannot write: ", std::strerror(errno));
  const fs::path folder = to.has_parent_path() ? to.parent_path() : fs::path(".");
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  ::fsync(opened);
  ::close(opened);
}

void remove_result(const fs::path& path, ResultKind kind) {
  std::error_code ignored;
  for (const auto& file : result_files(path, kind)) fs::remove(file, ignored);
  if (kind != ResultKind::kSqlite) return;
  for (const auto* ending : {"-wal", "-shm"}) fs::remove(path.string() + ending, ignored);
}

struct Results::State {
  std::variant<std::monostate, TextFile, SqliteFile, NumpyFile> file;

  template <typename Use>
  auto use(const Use& use) {
    if (auto* text = std::get_if<TextFile>(&file)) return use(*text);
    if (auto* database = std::get_if<SqliteFile>(&file)) return use(*database);
    return use(std::get<NumpyFile>(file));
  }
};

Results::Results(const std::filesystem::path& path, ResultKind kind, const RowShape& shape)
    : state_(std::make_unique<State>()) {
  auto& file = state_->file;
  if (kind == ResultKind::kSqlite)
    file.emplace<SqliteFile>(path);
  else if (kind == ResultKind::kNumpy)
    file.emplace<NumpyFile>(path, shape);
  else if (kind == ResultKind::kStandardOutput)
    file.emplace<TextFile>(TextFormat::kJsonl, shape);
  else
    file.emplace<TextFile>(path, kind == ResultKind::kCsv ? TextFormat::kCsv : TextFormat::kJsonl,
                           shape);
}
Results::~Results() = default;
Results::Results(Results&&) noexcept = default;

std::optional<std::string> Results::read_header() {
  return state_->use([](auto& file) { return file.read_header(); });
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
void Results::append_stored(Results& other) {
  state_->use([&](auto& file) {
    file.append_stored(std::get<std::remove_reference_t<decltype(file)>>(other.state_->file));
  });
}
void Results::flush() {
  state_->use([](auto& file) { file.flush(); });
}
void Results::finish() {
  state_->use([](auto& file) { file.finish(); });
}

}  // namespace vit::tools
