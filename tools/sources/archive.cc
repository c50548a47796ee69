#include "tools/sources/archive.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <vector>

#include "patch/image/pixel_budget.h"
#include "tools/sources/tar.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

bool ends_with(const std::string& path, std::string_view ending) {
  if (path.size() <= ending.size()) return false;
  return std::equal(
      ending.begin(), ending.end(), path.end() - std::ssize(ending),
      [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

bool is_gzip(const std::string& path) {
  return ends_with(path, ".tar.gz") || ends_with(path, ".tgz");
}

bool is_zip(const std::string& path) {
  return ends_with(path, ".zip");
}

Member from_tar(const TarMember& member) {
  return {.name = member.name, .offset = member.offset, .size = member.size};
}

Member from_zip(const ZipMember& member) {
  return {.name = member.name, .size = member.size, .problem = member.problem, .zip = member};
}

}  // namespace

bool is_archive(const std::string& path) {
  return ends_with(path, ".tar") || is_gzip(path) || is_zip(path);
}

Archive::Archive(const std::string& path) : file_(path), zip_(is_zip(path)) {
  if (is_gzip(path)) gzip_ = std::make_unique<GzipFile>(file_);
}

bool Archive::visit(const std::function<bool(const Member&)>& visit,
                    const std::atomic<bool>& stop) const {
  const auto take_tar = [&](const TarMember& member) { return visit(from_tar(member)); };
  if (zip_)
    return visit_zip(
        file_, [&](const ZipMember& member) { return visit(from_zip(member)); }, stop);
  if (!gzip_) return visit_tar(file_, take_tar, stop);
  TarBytes bytes{.path = path(), .read = {}};
  std::uint64_t end = 0;
  bytes.read = [&](std::uint64_t offset, std::span<std::byte> to) {
    const std::size_t got = gzip_->read(offset, to, stop);
    end = std::max(end, offset + got);
    return got;
  };
  if (!visit_tar(bytes, take_tar, stop)) return false;
  // The checksum comes last.
  std::vector<std::byte> rest(std::size_t{1} << 16);
  while (const std::size_t got = gzip_->read(end, rest, stop)) end += got;
  return !stop;
}

patch::ByteSource Archive::source(const Member& member, const std::string& name,
                                  const std::atomic<bool>& stop) const {
  patch::ByteSource source{.name = name, .size = static_cast<std::size_t>(member.size), .read = {}};
  if (zip_) {
    source.read = zip_reader(file_, member.zip, name);
    return source;
  }
  source.read = [this, offset = member.offset, size = member.size, &stop](
                    std::size_t at, std::span<std::byte> bytes) {
    if (stop) throw patch::WaitStopped();
    const std::uint64_t left = size - std::min<std::uint64_t>(at, size);
    bytes = bytes.first(std::min<std::uint64_t>(left, bytes.size()));
    if (!gzip_) return file_.read(offset + at, bytes);
    const std::size_t got = gzip_->read(offset + at, bytes, stop);
    if (stop) throw patch::WaitStopped();
    return got;
  };
  return source;
}

std::optional<MemberName> split_member_name(const std::string& path) {
  std::error_code ignored;
  size_t mark = path.find(kMemberMark);
  if (mark == path.npos || std::filesystem::exists(path, ignored)) return std::nullopt;
  for (; mark != path.npos; mark = path.find(kMemberMark, mark + 1)) {
    const std::string archive = path.substr(0, mark);
    if (is_archive(archive) && std::filesystem::is_regular_file(archive, ignored))
      return MemberName{archive, path.substr(mark + kMemberMark.size())};
  }
  return std::nullopt;
}

void MemberFinder::open(const std::string& path, const std::atomic<bool>& stop) {
  path_ = path;
  problem_.clear();
  members_.clear();
  archive_.reset();
  try {
    archive_ = std::make_shared<const Archive>(path);
    const bool whole = archive_->visit(
        [&](const Member& member) {
          members_.try_emplace(member.name, member);
          return true;
        },
        stop);
    if (!whole) path_.clear();  // stopped
  } catch (const Error& error) {
    problem_ = error.reason_at(path);
  }
}

MemberFinder::Found MemberFinder::find(const MemberName& name, const std::atomic<bool>& stop) {
  if (path_ != name.archive) open(name.archive, stop);
  const auto found = members_.find(name.name);
  if (found == members_.end())
    fail(problem_.empty() ? std::string("no such member in this archive") : problem_);
  return {archive_, found->second};
}

}  // namespace vit::tools
