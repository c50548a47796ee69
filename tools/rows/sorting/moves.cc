#include "tools/rows/sorting/moves.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>

#include "tools/output/file.h"
#include "tools/output/json.h"
#include "tools/output/json_depth.h"
#include "tools/output/path_text.h"
#include "tools/rows/shard.h"
#include "vit/base/atomic_file.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

/// Files that are moved after one sync of the journal.
constexpr size_t kBlock = 256;

struct Entry {
  std::string from;  ///< absolute
  std::string to;    ///< below the folder of the journal, which may itself be moved
};

std::string line_of(const Entry& entry) {
  Json json;
  put_path(json, "from", entry.from);
  put_path(json, "to", entry.to);
  return dump(json) + '\n';
}

/// A journal is a file that anyone may edit: a target must lie within its folder.
bool is_below(const fs::path& relative) {
  return !relative.empty() && relative.is_relative() &&
         std::ranges::find(relative, fs::path("..")) == relative.end();
}

std::string read_all(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The complete lines; a line that a kill has cut off may follow them.
std::vector<Entry> entries_of(const fs::path& journal, std::string_view text) {
  std::vector<Entry> entries;
  for (size_t line = 1; text.find('\n') != text.npos; ++line) {
    const size_t end = text.find('\n');
    const auto entry = text.substr(0, end);
    const auto json = nests_deep(entry) ? Json() : Json::parse(entry, nullptr, false);
    text.remove_prefix(end + 1);
    const auto from = json.is_object() ? path_in(json, "from") : std::nullopt;
    const auto to = json.is_object() ? path_in(json, "to") : std::nullopt;
    if (!from || !to || !fs::path(*from).is_absolute() || !is_below(*to))
      fail_at(journal.string(), "line ", line, R"( is damaged, expected {"from":"/…","to":"…"}; )",
              "remove this line to use the others");
    entries.push_back({*from, *to});
  }
  return entries;
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

/// Up to, and not including, `top`.
void remove_empty_folders(fs::path folder, const fs::path& top) {
  while (folder != top && folder.has_parent_path() && ::rmdir(folder.c_str()) == 0)
    folder = folder.parent_path();
}

/// Empty, or why the file stays where it is.
std::string move_back(const fs::path& from, const fs::path& back) {
  if (is_there(back)) return from.string() + ": stays, because " + back.string() + " exists again";
  try {
    make_folder(back.parent_path());
    if (move_file(from, back)) return "";
    return from.string() + ": stays, because " + back.string() + " exists again";
  } catch (const Error& error) {
    return error.what();
  }
}

void keep_in_journal(const fs::path& journal, std::vector<Entry> left) {
  if (left.empty()) {
    std::error_code ignored;
    fs::remove(journal, ignored);
    return;
  }
  std::ranges::reverse(left);
  std::string text;
  for (const Entry& entry : left) text += line_of(entry);
  write_file(journal, text);
}

}  // namespace

fs::path journal_of(const fs::path& folder) {
  return folder / ".vit-moves.jsonl";  // hidden: not an input of a later run
}

Moves::Moves(fs::path folder) : folder_(std::move(folder)) {
  make_folder(folder_);
  lock_.emplace(journal_of(folder_));
  journal_ = ::open(journal_of(folder_).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (journal_ < 0) fail_at(journal_of(folder_).string(), "cannot write: ", std::strerror(errno));
  read_journal();
}

Moves::~Moves() {
  struct stat status {};
  if (::fstat(journal_, &status) == 0 && status.st_size == 0) ::unlink(journal_of(folder_).c_str());
  ::close(journal_);
}

void Moves::read_journal() {
  const fs::path path = journal_of(folder_);
  const std::string text = read_all(path);
  for (const Entry& entry : entries_of(path, text)) before_.insert(path_hash(entry.from));
  const auto whole = static_cast<off_t>(text.rfind('\n') + 1);  // npos + 1 is 0
  if (::ftruncate(journal_, whole) != 0 || ::lseek(journal_, whole, SEEK_SET) < 0)
    fail_at(path.string(), "cannot write: ", std::strerror(errno));
  sync_folder_of(path);
}

bool Moves::knows(const std::string& path) const {
  const auto hash = path_hash(fs::absolute(path).lexically_normal().string());
  return now_.contains(hash) || (before_.contains(hash) && !is_there(path));
}

void Moves::add(const Input& input, const fs::path& into) {
  if (input.archive)
    fail_as<Unreadable>(input.path,
                        "is in an archive, from which nothing is moved; use --copy-to DIR");
  if (fs::is_symlink(fs::symlink_status(input.path)))
    fail_as<Unreadable>(input.path,
                        "is a symbolic link, which might lead nowhere after a move; use "
                        "--copy-to DIR or --link-to DIR");
  const fs::path from = fs::absolute(input.path).lexically_normal();
  const PlaceNames names = place_names(input);
  std::error_code ignored;
  for (const auto& name : {names.own, names.apart})
    if (fs::equivalent(from, into / name, ignored)) return;  // is there already
  const fs::path own = into / names.own, apart = into / names.apart;
  const bool free = !is_there(own) && names_.insert(own.string()).second;
  planned_.push_back({from, free ? own : apart, apart});
  write(from, planned_.back().to);
  now_.insert(path_hash(from.string()));
  if (planned_.size() == kBlock) flush();
}

void Moves::write(const fs::path& from, const fs::path& to) {
  pending_ += line_of({from.string(), to.lexically_relative(folder_).string()});
}

void Moves::sync() {
  const fs::path path = journal_of(folder_);
  for (size_t done = 0; done < pending_.size();) {
    const ssize_t count = ::write(journal_, pending_.data() + done, pending_.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_at(path.string(), "cannot write: ", std::strerror(errno));
    done += static_cast<size_t>(count);
  }
  if (::fdatasync(journal_) != 0) fail_at(path.string(), "cannot write: ", std::strerror(errno));
  pending_.clear();
}

void Moves::flush() {
  if (planned_.empty()) return;
  sync();
  const auto planned = std::move(planned_);
  planned_.clear();
  names_.clear();
  for (const Move& move : planned) {
    make_folder(move.to.parent_path());
    if (move_file(move.from, move.to)) continue;
    write(move.from, move.apart);  // another program took the name meanwhile
    sync();
    if (!move_file(move.from, move.apart))
      fail_at(move.apart.string(), "exists, and is not ", move.from.string());
  }
}

Undone undo_moves(const fs::path& folder, const std::function<bool()>& stop) {
  const fs::path journal = journal_of(folder);
  if (!is_there(journal))
    fail_at(folder.string(), "nothing to undo: there is no ", journal.filename().string(),
            " in it, which `vit sort --move-to` writes");
  const OutputLock lock(journal);
  auto entries = entries_of(journal, read_all(journal));
  std::ranges::reverse(entries);
  Undone undone;
  std::set<std::string> back;
  std::vector<Entry> left;
  for (const Entry& entry : entries) {
    const fs::path from = folder / entry.to;
    // A kill between the journal and the move leaves a line without a move.
    const bool never_moved = !is_there(from) && is_there(entry.from);
    if (back.contains(entry.from) || never_moved) continue;
    std::string problem;
    if (stop())
      problem = "stopped";
    else if (!is_there(from))
      problem = from.string() + ": no such file; it was " + entry.from;
    else
      problem = move_back(from, entry.from);
    if (problem.empty()) {
      ++undone.files;
      back.insert(entry.from);
      remove_empty_folders(from.parent_path(), folder);
      continue;
    }
    if (!stop()) undone.problems.push_back(problem);
    left.push_back(entry);
  }
  keep_in_journal(journal, std::move(left));
  return undone;
}

}  // namespace vit::tools
