/// Images within other files: the members of .tar, .tar.gz and .zip archives.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "patch/image/image_bytes.h"
#include "tools/sources/gzip_file.h"
#include "tools/sources/readable_file.h"
#include "tools/sources/zip.h"

namespace vit::tools {

/// Between the path of an archive and the name of a member: "shard.tar!/name".
constexpr std::string_view kMemberMark = "!/";

/// By its ending, in any case: .tar, .tar.gz, .tgz, .zip.
bool is_archive(const std::string& path);

struct Member {
  std::string name;          ///< with its folders, as the archive has it
  std::uint64_t offset = 0;  ///< of the content in a tar archive
  std::uint64_t size = 0;
  std::string problem{};  ///< why it cannot be read; empty: it can
  ZipMember zip{};
};

/// Several threads may read it.
class Archive {
 public:
  /// Throws an Error if it cannot be opened.
  explicit Archive(const std::string& path);

  const std::string& path() const { return file_.path(); }

  /// Calls `visit` with every regular file, in the archive's order, until it returns false or
  /// `stop` is set; returns false then. Throws an Error with the place if the archive is damaged
  /// or truncated, after visiting the members before it.
  bool visit(const std::function<bool(const Member&)>& visit, const std::atomic<bool>& stop) const;

  /// The bytes of a member, for one thread. Messages start with `name`. The archive and `stop`,
  /// which ends a read with patch::WaitStopped, must outlive it.
  patch::ByteSource source(const Member& member, const std::string& name,
                           const std::atomic<bool>& stop) const;

 private:
  ReadableFile file_;
  bool zip_ = false;
  std::unique_ptr<GzipFile> gzip_;
};

/// The archive and the member that "shard.tar!/name" names. None if the archive is not a file, or
/// if there is a file of the whole name.
struct MemberName {
  std::string archive;
  std::string name;
};
std::optional<MemberName> split_member_name(const std::string& path);

/// Finds members by name. Keeps those of the archive that was opened last.
class MemberFinder {
 public:
  struct Found {
    std::shared_ptr<const Archive> archive;
    Member member;
  };

  /// Throws an Error without the path: the archive cannot be opened, or holds no such member.
  Found find(const MemberName& name, const std::atomic<bool>& stop);

 private:
  void open(const std::string& path, const std::atomic<bool>& stop);

  std::string path_;
  std::string problem_;  ///< of the archive; the members before it can be read
  std::shared_ptr<const Archive> archive_;
  std::unordered_map<std::string, Member> members_;
};

}  // namespace vit::tools
