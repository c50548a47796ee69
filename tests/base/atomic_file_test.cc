#include "vit/base/atomic_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/support/folder.h"
#include "tests/support/message_of.h"
#include "vit/base/error.h"

namespace vit {
namespace {

using vit::test::message_of;
namespace fs = std::filesystem;
using test::Folder;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Temporary = AtomicFile::Temporary;

constexpr std::array kKinds{Temporary::kUnnamedWherePossible, Temporary::kNamed};

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> names_in(const Folder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    names.push_back(entry.path().filename().string());
  return names;
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(lstat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

/// Runs `action` as a user other than root, whom permissions do not stop. False: this process
/// cannot change users.
bool as_nobody(const std::function<void()>& action) {
  constexpr uid_t kNobody = 65534;
  if (geteuid() == 0 && seteuid(kNobody) != 0) return false;
  action();
  return geteuid() != kNobody || seteuid(0) == 0;
}

TEST(AtomicFile, ShowsNothingBeforeCommitAndEverythingAfter) {
  for (const auto kind : kKinds) {
    const Folder folder;
    const std::string path = folder.write("file", "before");
    {
      AtomicFile file(path, kind);
      file.write(bytes_of("half"));
      EXPECT_EQ(content_of(path), "before");
    }
    EXPECT_EQ(content_of(path), "before") << "without commit";
    AtomicFile file(path, kind);
    file.write(bytes_of("aft"));
    file.write(bytes_of("er"));
    file.commit();
    EXPECT_EQ(content_of(path), "after");
    EXPECT_THAT(names_in(folder), ElementsAre("file"));
  }
}

TEST(AtomicFile, MakesAFileThatWasNotThere) {
  for (const auto kind : kKinds) {
    const Folder folder;
    AtomicFile file(folder.path("file"), kind);
    file.write(bytes_of("new"));
    file.commit();
    EXPECT_EQ(content_of(folder.path("file")), "new");
    EXPECT_THAT(names_in(folder), ElementsAre("file"));
  }
}

TEST(AtomicFile, KeepsThePermissionsOfTheFileItReplaces) {
  for (const auto kind : kKinds) {
    const Folder folder;
    const std::string path = folder.write("file", "before");
    ASSERT_EQ(chmod(path.c_str(), 0640), 0);
    AtomicFile file(path, kind);
    file.commit();
    EXPECT_EQ(mode_of(path), 0640u);
  }
}

TEST(AtomicFile, GivesANewFileThePermissionsOfAnyNewFile) {
  for (const auto kind : kKinds) {
    const Folder folder;
    const mode_t before = umask(027);
    AtomicFile file(folder.path("file"), kind);
    file.commit();
    umask(before);
    EXPECT_EQ(mode_of(folder.path("file")), 0640u);
  }
}

TEST(AtomicFile, ReplacesTheFileThatALinkPointsToAndKeepsTheLink) {
  for (const auto kind : kKinds) {
    const Folder folder;
    folder.write("elsewhere/file", "before");
    fs::create_symlink("elsewhere/file", folder.path("second"));
    fs::create_symlink("second", folder.path("first"));
    AtomicFile file(folder.path("first"), kind);
    file.write(bytes_of("after"));
    file.commit();
    EXPECT_TRUE(fs::is_symlink(folder.path("first")));
    EXPECT_TRUE(fs::is_symlink(folder.path("second")));
    EXPECT_EQ(content_of(folder.path("elsewhere/file")), "after");
  }
}

TEST(AtomicFile, RefusesALinkOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "a link of another user needs root";
  const Folder folder;
  folder.write("mine", "before");
  fs::create_symlink("mine", folder.path("link"));
  ASSERT_EQ(lchown(folder.path("link").c_str(), 65533, 65533), 0);
  EXPECT_EQ(message_of([&] { AtomicFile file(folder.path("link")); }),
            folder.path("link") + ": is a symbolic link of another user; it is not followed");
  EXPECT_EQ(content_of(folder.path("mine")), "before");
}

TEST(AtomicFile, RefusesALoopOfLinks) {
  const Folder folder;
  fs::create_symlink("b", folder.path("a"));
  fs::create_symlink("a", folder.path("b"));
  EXPECT_EQ(message_of([&] { AtomicFile file(folder.path("a")); }),
            folder.path("a") + ": cannot write: Too many levels of symbolic links");
}

TEST(AtomicFile, SaysWhyItCannotWrite) {
  const Folder folder;
  EXPECT_EQ(message_of([&] { AtomicFile file(folder.path()); }),
            folder.path() + ": is a folder, expected a file name");
  EXPECT_EQ(message_of([&] { AtomicFile file("/dev/null"); }), "/dev/null: is not a regular file");
  EXPECT_EQ(message_of([&] { AtomicFile file(folder.path("no/file")); }),
            folder.path("no/file") + ": cannot write: No such file or directory");
}

TEST(AtomicFile, RespectsAFolderAndAFileThatAreWriteProtected) {
  const Folder folder;
  const std::string path = folder.write("file", "before");
  fs::permissions(folder.path(), fs::perms(0555));
  std::string in_folder;
  ASSERT_TRUE(
      as_nobody([&] { in_folder = message_of([&] { AtomicFile file(folder.path("new")); }); }));
  EXPECT_EQ(in_folder, folder.path("new") + ": cannot write: Permission denied");
  fs::permissions(folder.path(), fs::perms(0777));
  fs::permissions(path, fs::perms(0444));
  std::string over_file;
  ASSERT_TRUE(as_nobody([&] { over_file = message_of([&] { AtomicFile file(path); }); }));
  EXPECT_EQ(over_file, path + ": cannot write: Permission denied");
  EXPECT_EQ(content_of(path), "before");
}

/// Limits the size of files to `bytes`, as a full disk would.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST(AtomicFile, LeavesTheOldFileWhereTheDiskIsFull) {
  for (const auto kind : kKinds) {
    const Folder folder;
    const std::string path = folder.write("file", "before");
    {
      const FileSizeLimit full(1000);
      EXPECT_EQ(message_of([&] {
                  AtomicFile file(path, kind);
                  file.write(bytes_of(std::string(2000, 'x')));
                  file.commit();
                }),
                path + ": cannot write: File too large");
      EXPECT_EQ(message_of([&] { AtomicFile(path, kind).reserve(2000); }),
                path + ": cannot write 2000 bytes: File too large");
    }
    EXPECT_EQ(content_of(path), "before");
    EXPECT_THAT(names_in(folder), ElementsAre("file"));
  }
}

/// Writes half a file in a process of its own and ends that by `signal`.
void die_while_writing(const std::string& path, Temporary kind, int signal) {
  const pid_t child = fork();
  if (child == 0) {
    AtomicFile file(path, kind);
    file.write(bytes_of("half"));
    raise(signal);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal);
}

bool has_unnamed_files(const std::string& folder) {
  const int file = open(folder.c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (file >= 0) close(file);
  return file >= 0;
}

TEST(AtomicFile, LeavesNothingWhenItsProcessIsKilled) {
  const Folder folder;
  if (!has_unnamed_files(folder.path())) GTEST_SKIP() << "this file system has no unnamed files";
  for (const int signal : {SIGKILL, SIGINT, SIGTERM}) {
    die_while_writing(folder.path("file"), Temporary::kUnnamedWherePossible, signal);
    EXPECT_THAT(names_in(folder), IsEmpty()) << signal;
  }
}

TEST(AtomicFile, TemporariesOfKilledProcessesAreRemovedLater) {
  const Folder folder;
  die_while_writing(folder.path("file"), Temporary::kNamed, SIGKILL);
  ASSERT_THAT(names_in(folder), ElementsAre(testing::MatchesRegex("\\.vit-[0-9a-f]*\\.tmp")));
  remove_abandoned(folder.path());
  EXPECT_THAT(names_in(folder), IsEmpty());
}

TEST(AtomicFile, RemovesNeitherTemporariesInUseNorFilesOfOthers) {
  const Folder folder;
  const std::string target = folder.write("target", "mine");
  folder.write("vit-0123456789abcdef.tmp", "");
  folder.write(".vit-0123.tmp", "");
  fs::create_symlink("target", folder.path(".vit-0123456789abcdef.tmp"));
  AtomicFile running(folder.path("file"), Temporary::kNamed);
  const auto before = names_in(folder);
  ASSERT_EQ(before.size(), 5u);
  remove_abandoned(folder.path());
  EXPECT_THAT(names_in(folder), testing::UnorderedElementsAreArray(before));
  running.write(bytes_of("whole"));
  running.commit();
  EXPECT_EQ(content_of(folder.path("file")), "whole");
  EXPECT_EQ(content_of(target), "mine");
}

TEST(AtomicFile, TakesTheLongestNameThatAFileMayHave) {
  for (const auto kind : kKinds) {
    const Folder folder;
    const std::string path = folder.path(std::string(255, 'n'));
    for (const char* text : {"first", "second"}) {
      AtomicFile file(path, kind);
      file.write(bytes_of(text));
      file.commit();
      EXPECT_EQ(content_of(path), text);
    }
  }
}

}  // namespace
}  // namespace vit
