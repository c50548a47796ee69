#include "tools/rows/sorting/place_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "tools/inputs/bytes.h"
#include "tools/output/path_text.h"
#include "tools/rows/shard.h"
#include "vit/base/atomic_file.h"
#include "vit/base/encoding.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestFolder = 200;  // bytes; file systems take 255

struct Original {
  patch::ByteSource source;
  std::optional<struct stat> status;  ///< times and permissions; a member of an archive has none
};

Original open_original(const Input& input) {
  struct stat status {};
  const bool file = !input.archive && ::stat(input.path.c_str(), &status) == 0;
  try {
    return {.source = source_of(input), .status = file ? std::optional(status) : std::nullopt};
  } catch (const Error& error) {
    throw Unreadable(error.what(), error.where().size());
  }
}

/// Passes the bytes to `take` in parts until that returns false. Returns whether it took all.
template <typename Take>
bool pass_on(const patch::ByteSource& source, const Take& take) {
  constexpr size_t kPart = size_t{1} << 20;
  std::vector<std::byte> part(kPart);
  for (size_t at = 0;;) {
    size_t got = 0;
    try {
      got = source.read(at, part);
    } catch (const Error& error) {
      throw Unreadable(error.what(), error.where().size());
    }
    if (got == 0) return true;
    if (!take(at, std::span<const std::byte>(part).first(got))) return false;
    at += got;
  }
}

bool same_content(const fs::path& place, const patch::ByteSource& source) {
  std::error_code ignored;
  if (!fs::is_regular_file(place, ignored) || fs::file_size(place, ignored) != source.size)
    return false;
  const ReadableFile file(place);
  return pass_on(source, [&](size_t at, std::span<const std::byte> part) {
    return std::ranges::equal(file.read(at, part.size()), part);
  });
}

/// Renames `from` to `place`. False if that exists, because another program may be sorting into the
/// same folder; `from` is then removed.
bool take_name(const fs::path& from, const fs::path& place) {
  if (::link(from.c_str(), place.c_str()) == 0) return ::unlink(from.c_str()) == 0;
  const int error = errno;
  const bool no_hard_links = error == EPERM || error == EOPNOTSUPP;
  if (no_hard_links && ::rename(from.c_str(), place.c_str()) == 0) return true;
  ::unlink(from.c_str());
  if (error == EEXIST) return false;
  fail_at(place.string(), "cannot write: ", std::strerror(error));
}

/// Whether `place` was free or already holds the same content; otherwise it is another file.
bool put_copy(const Original& original, const fs::path& place, const std::string& mark) {
  if (fs::exists(fs::symlink_status(place))) return same_content(place, original.source);
  const fs::path beside = place.parent_path() / (".vit" + mark + ".tmp");
  ::unlink(beside.c_str());  // left by a run that was killed
  AtomicFile file(beside);
  pass_on(original.source, [&](size_t, std::span<const std::byte> part) {
    file.write(part);
    return true;
  });
  file.commit();
  if (original.status) {
    // Not every file system can store them; the copy is still valid.
    const std::array<timespec, 2> times{original.status->st_atim, original.status->st_mtim};
    [[maybe_unused]] const int timed = ::utimensat(AT_FDCWD, beside.c_str(), times.data(), 0);
    [[maybe_unused]] const int allowed = ::chmod(beside.c_str(), original.status->st_mode & 0777);
  }
  return take_name(beside, place) || same_content(place, original.source);
}

bool put_link(const fs::path& target, const fs::path& place) {
  if (symlink(target.c_str(), place.c_str()) == 0) return true;
  if (errno != EEXIST) fail_at(place.string(), "cannot make this link: ", std::strerror(errno));
  std::error_code none;
  return fs::read_symlink(place, none) == target;
}

std::string hash_mark(const std::string& path) {
  return '-' + hex_number(path_hash(path));
}

template <typename Put>
void put_either(const Input& input, const fs::path& folder, const Put& put) {
  const PlaceNames names = place_names(input);
  if (!put(folder / names.own) && !put(folder / names.apart))
    fail_at((folder / names.apart).string(), "exists, and is not ", input.path);
}

/// The copy is on the disk before the original is removed.
bool move_to_other_device(const fs::path& from, const fs::path& to) {
  const Input input{.path = from.string(), .file = from.string()};
  if (fs::exists(fs::symlink_status(to))) return false;
  if (!put_copy(open_original(input), to, hash_mark(from.string()))) return false;
  sync_folder_of(to);
  if (::unlink(from.c_str()) != 0)
    fail_at(from.string(), "was copied to ", to.string(),
            " and cannot be removed: ", std::strerror(errno));
  return true;
}

}  // namespace

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

PlaceNames place_names(const Input& input) {
  // For a member of an archive its own name, without archive and folders.
  const fs::path name = fs::path(input.path).filename();
  return {name, name.stem().string() + hash_mark(input.path) + name.extension().string()};
}

void make_folder(const fs::path& folder) {
  std::error_code refused;
  fs::create_directories(folder, refused);
  if (refused) fail_at(folder.string(), "cannot make this folder: ", refused.message());
}

void copy_into(const Input& input, const fs::path& folder) {
  const Original original = open_original(input);
  const std::string mark = hash_mark(input.path);
  put_either(input, folder, [&](const fs::path& place) { return put_copy(original, place, mark); });
}

void link_into(const Input& input, const fs::path& folder) {
  const fs::path target = fs::absolute(input.path);
  put_either(input, folder, [&](const fs::path& place) { return put_link(target, place); });
}

bool move_file(const fs::path& from, const fs::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  int error = errno;
  if (error == EINVAL || error == ENOSYS) {  // a file system without this flag
    if (fs::exists(fs::symlink_status(to))) return false;
    if (::rename(from.c_str(), to.c_str()) == 0) return true;
    error = errno;
  }
  if (error == EEXIST) return false;
  if (error == EXDEV) return move_to_other_device(from, to);
  fail_at(from.string(), "cannot be moved to ", to.string(), ": ", std::strerror(error));
}

}  // namespace vit::tools
