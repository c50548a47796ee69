#include "tools/batch/sorting.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>

#include "tools/batch/inputs/tar.h"
#include "tools/batch/results/record.h"
#include "tools/batch/results/shard.h"
#include "tools/output/format.h"
#include "vit/base/atomic_file.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestFolder = 200;  // bytes; file systems take 255

std::string folder_name(std::string_view label) {
  std::string name = as_utf8(label);
  for (char& c : name)
    if (c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '_';
  if (name.size() > kLongestFolder) {
    name.resize(kLongestFolder);
    while (!is_utf8(name)) name.pop_back();
  }
  while (name.ends_with(' ')) name.pop_back();
  if (name.empty() || name.starts_with('.')) name.insert(0, "_");
  return name;
}

/// The file of a row cannot be read, although its target can be written.
class Unreadable : public Error {
 public:
  using Error::Error;
};

struct Original {
  std::vector<std::byte> bytes;
  std::optional<struct stat> status;  ///< times and permissions; a member of an archive has none
};

Original read_original(const Input& input) {
  Original original;
  struct stat status {};
  if (!input.archive && ::stat(input.path.c_str(), &status) == 0) original.status = status;
  try {
    original.bytes = read_bytes(input);
  } catch (const Error& error) {
    throw Unreadable(error.what());
  }
  return original;
}

bool same_content(const fs::path& file, const std::vector<std::byte>& bytes) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored) || fs::file_size(file, ignored) != bytes.size())
    return false;
  return ReadableFile(file).read(0, bytes.size()) == bytes;
}

/// Gives `from` the name `place` unless that is taken: another shard may be sorting into the same
/// folder.
bool take_name(const fs::path& from, const fs::path& place) {
  if (::link(from.c_str(), place.c_str()) == 0) return ::unlink(from.c_str()) == 0;
  const int error = errno;
  const bool no_hard_links = error == EPERM || error == EOPNOTSUPP;
  if (no_hard_links && ::rename(from.c_str(), place.c_str()) == 0) return true;
  ::unlink(from.c_str());
  if (error == EEXIST) return false;
  fail(place.string(), ": cannot write: ", std::strerror(error));
}

/// Whether `place` was free or already holds the same content; otherwise it is another file.
bool put_copy(const Original& original, const fs::path& place, const char* mark) {
  if (fs::exists(fs::symlink_status(place))) return same_content(place, original.bytes);
  const fs::path beside = place.parent_path() / (std::string(".vit") + mark + ".tmp");
  ::unlink(beside.c_str());  // left by a run that was killed
  AtomicFile file(beside);
  file.write(original.bytes);
  file.commit();
  if (original.status) {
    // Not every file system can store them; the copy is still valid.
    const std::array<timespec, 2> times{original.status->st_atim, original.status->st_mtim};
    [[maybe_unused]] const int timed = ::utimensat(AT_FDCWD, beside.c_str(), times.data(), 0);
    [[maybe_unused]] const int allowed = ::chmod(beside.c_str(), original.status->st_mode & 0777);
  }
  return take_name(beside, place) || same_content(place, original.bytes);
}

bool put_link(const fs::path& target, const fs::path& place) {
  if (symlink(target.c_str(), place.c_str()) == 0) return true;
  if (errno != EEXIST) fail(place.string(), ": cannot make this link: ", std::strerror(errno));
  std::error_code none;
  return fs::read_symlink(place, none) == target;
}

/// Of a member its own name, without its archive and folders.
std::string file_name(const Input& input) {
  return fs::path(input.path).filename().string();
}

}  // namespace

std::vector<std::string> class_folders(const std::vector<std::string>& labels, size_t classes) {
  std::vector<std::string> names;
  std::map<std::string, size_t> uses;
  for (size_t i = 0; i < classes; ++i) {
    names.push_back(i < labels.size() ? folder_name(labels[i]) : "class " + std::to_string(i));
    ++uses[names.back()];
  }
  for (size_t i = 0; i < classes; ++i)
    if (uses[names[i]] > 1) names[i] += " (" + std::to_string(i) + ")";
  return names;
}

void Sorting::place(Row& row) {
  if (by_ == SortBy::kNothing || row.failed()) return;
  if (row.predictions.empty()) {
    ++without_class_;
    return;
  }
  try {
    put(row.input, row.predictions.front().index);
  } catch (const Unreadable& error) {
    row.reason = std::string("could not be copied: ") + error.what();
  }
}

void Sorting::place(const StoredRow& row, const std::atomic<bool>& stop) {
  if (by_ == SortBy::kNothing || row.failed) return;
  if (!row.best_class) {
    ++without_class_;
    return;
  }
  try {
    put(input_of(row, stop), *row.best_class);
  } catch (const Unreadable& error) {
    if (stop) return;
    if (++vanished_ == 1) first_problem_ = error.what();
  }
}

const Sorting::Archive& Sorting::open_archive(const std::string& path,
                                              const std::atomic<bool>& stop) {
  if (archive_.path == path) return archive_;
  archive_ = {path, {}, nullptr, {}};
  try {
    archive_.file = std::make_shared<const ReadableFile>(path);
    visit_tar(
        *archive_.file,
        [&](const TarMember& member) {
          archive_.members.try_emplace(member.name, member.offset, member.size);
          return true;
        },
        stop);
  } catch (const Error& error) {
    archive_.problem = error.what();  // the members before the damage are usable
  }
  return archive_;
}

Input Sorting::input_of(const StoredRow& row, const std::atomic<bool>& stop) {
  Input input{.number = row.number, .path = row.path, .problem = {}, .archive = {}};
  std::error_code ignored;
  const size_t mark = row.path.rfind(kMemberMark);
  if (fs::is_regular_file(row.path, ignored)) return input;
  if (mark == row.path.npos) throw Unreadable(row.path + ": no such file");
  const Archive& archive = open_archive(row.path.substr(0, mark), stop);
  const auto member = archive.members.find(row.path.substr(mark + kMemberMark.size()));
  if (member == archive.members.end())
    throw Unreadable(
        row.path + ": " +
        (archive.problem.empty() ? "no such member in this archive" : archive.problem));
  input.archive = archive.file;
  std::tie(input.offset, input.size) = member->second;
  return input;
}

void Sorting::put(const Input& input, size_t best_class) {
  if (best_class >= class_folders_.size())
    throw Unreadable(input.path + ": its row names class " + std::to_string(best_class) +
                     ", but the model has " + std::to_string(class_folders_.size()));
  const fs::path folder = folder_ / class_folders_[best_class];
  std::error_code refused;
  fs::create_directories(folder, refused);
  if (refused) fail(folder.string(), ": cannot make this folder: ", refused.message());

  const fs::path name = file_name(input);
  std::array<char, 20> hash{};
  std::snprintf(hash.data(), hash.size(), "-%016jx", std::uintmax_t{path_hash(input.path)});
  const fs::path apart = name.stem().string() + hash.data() + name.extension().string();
  const auto put_either = [&](const auto& put_at) {
    if (!put_at(folder / name) && !put_at(folder / apart))
      fail((folder / apart).string(), ": exists, and is not ", input.path);
  };
  // A link cannot point to a member of an archive.
  if (by_ == SortBy::kLink && !input.archive) {
    const fs::path target = fs::absolute(input.path);
    put_either([&](const fs::path& place) { return put_link(target, place); });
  } else {
    const Original original = read_original(input);
    put_either([&](const fs::path& place) { return put_copy(original, place, hash.data()); });
  }
  ++placed_;
  classes_.insert(best_class);
}

std::string Sorting::summary(float least) const {
  if (by_ == SortBy::kNothing) return "";
  std::string text =
      ", " + format_count(placed_) + (by_ == SortBy::kCopy ? " copied into " : " linked into ") +
      format_count(classes_.size()) + (classes_.size() == 1 ? " folder" : " folders");
  std::array<char, 32> probability{};
  std::snprintf(probability.data(), probability.size(), "%g", static_cast<double>(least));
  if (without_class_ != 0)
    text += ", " + format_count(without_class_) +
            (least > 0 ? std::string(" below --min-probability ") + probability.data()
                       : " without a class") +
            " not placed";
  return text;
}

std::string Sorting::problem() const {
  if (vanished_ == 0) return "";
  return format_count(vanished_) +
         (vanished_ == 1 ? " file of an earlier row" : " files of earlier rows") +
         " could not be sorted, the first: " + first_problem_;
}

void sort_rows(Results& results, Sorting& sorting, const std::atomic<bool>& stop) {
  while (!stop) {
    const auto row = results.next();
    if (!row) return;
    sorting.place(*row, stop);
  }
}

}  // namespace vit::tools
