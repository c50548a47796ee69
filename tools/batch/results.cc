#include "tools/batch/results.h"

#include <variant>

#include "tools/batch/sqlite_file.h"
#include "tools/batch/text_file.h"

namespace vit::tools {

struct Results::State {
  std::variant<std::monostate, TextFile, SqliteFile> file;

  template <typename Use>
  auto use(const Use& use) {
    auto* text = std::get_if<TextFile>(&file);
    return text != nullptr ? use(*text) : use(std::get<SqliteFile>(file));
  }
};

Results::Results(const std::filesystem::path& path, ResultKind kind, const RowShape& shape)
    : state_(std::make_unique<State>()) {
  auto& file = state_->file;
  if (kind == ResultKind::kSqlite)
    file.emplace<SqliteFile>(path);
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
void Results::flush() {
  state_->use([](auto& file) { file.flush(); });
}
void Results::finish() {
  state_->use([](auto& file) { file.finish(); });
}

}  // namespace vit::tools
