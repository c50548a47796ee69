#include "tools/batch/sorting.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>

#include "tools/batch/record.h"
#include "tools/batch/shard.h"
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

bool same_content(const fs::path& file, const std::vector<std::byte>& bytes) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored) || fs::file_size(file, ignored) != bytes.size())
    return false;
  return TarFile(file).read(0, bytes.size()) == bytes;
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

/// Whether `place` was free or already what we would put there; otherwise it is somebody else's.
bool put_copy(const std::vector<std::byte>& bytes, const fs::path& place, const char* mark) {
  if (fs::exists(fs::symlink_status(place))) return same_content(place, bytes);
  const fs::path beside = place.parent_path() / (std::string(".vit") + mark + ".tmp");
  AtomicFile file(beside);
  file.write(bytes);
  file.commit();
  return take_name(beside, place) || same_content(place, bytes);
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

void Sorting::place(Row& row) const {
  if (by_ == SortBy::kNothing || row.failed() || row.predictions.empty()) return;
  const fs::path folder = folder_ / class_folders_.at(row.predictions.front().index);
  std::error_code refused;
  fs::create_directories(folder, refused);
  if (refused) fail(folder.string(), ": cannot make this folder: ", refused.message());

  const fs::path name = file_name(row.input);
  std::array<char, 20> hash{};
  std::snprintf(hash.data(), hash.size(), "-%016jx", std::uintmax_t{path_hash(row.input.path)});
  const fs::path apart = name.stem().string() + hash.data() + name.extension().string();
  // A member of an archive is no file that a link could lead to.
  if (by_ == SortBy::kLink && !row.input.archive) {
    const fs::path target = fs::absolute(row.input.path);
    if (put_link(target, folder / name) || put_link(target, folder / apart)) return;
  } else {
    std::vector<std::byte> bytes;
    try {
      bytes = read_bytes(row.input);
    } catch (const Error& error) {
      row.reason = std::string("could not be copied: ") + error.what();
      return;
    }
    if (put_copy(bytes, folder / name, hash.data()) || put_copy(bytes, folder / apart, hash.data()))
      return;
  }
  fail((folder / apart).string(), ": exists, and is not ", row.input.path);
}

}  // namespace vit::tools
