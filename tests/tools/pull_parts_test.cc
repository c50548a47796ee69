#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/support/folder.h"
#include "tools/cli/progress.h"
#include "tools/output/digest.h"
#include "tools/pull/http.h"
#include "tools/pull/part_file.h"
#include "tools/pull/retry.h"
#include "weights/store.h"

namespace vit::tools {
namespace {

TEST(Digest, GivesTheStandardsOwnExamples) {
  const std::string abc = "abc";
  Digest whole = Digest::sha256();
  whole.add(std::as_bytes(std::span(abc)));
  EXPECT_EQ(whole.finish(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Digest pieces = Digest::sha256();
  for (const char c : abc) pieces.add(std::as_bytes(std::span(&c, 1)));
  EXPECT_EQ(pieces.finish(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Digest::git_blob(0).finish(), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
}

TEST(Urls, HaveAnOriginOfSchemeHostAndPort) {
  EXPECT_TRUE(same_origin("https://hub.co/a", "https://hub.co:443/b?c"));
  EXPECT_FALSE(same_origin("https://hub.co", "http://hub.co"));
  EXPECT_FALSE(same_origin("https://hub.co", "https://cdn.hub.co"));
  EXPECT_FALSE(same_origin("https://hub.co", "https://hub.co:444"));
  EXPECT_FALSE(same_origin("https://hub.co", "https://hub.co.evil.example"));
  EXPECT_FALSE(same_origin("https://hub.co", "https://hub.co@evil.example"));
}

TEST(Urls, AreResolvedAgainstTheirBase) {
  EXPECT_EQ(resolve_url("https://hub.co/a/b", "/c"), "https://hub.co/c");
  EXPECT_EQ(resolve_url("https://hub.co/a/b", "https://cdn.co/x?y=1"), "https://cdn.co/x?y=1");
  EXPECT_EQ(origin_of("https://hub.co/a/b"), "https://hub.co");
}

TEST(HubNames, AreOwnerAndName) {
  for (const auto* name : {"google/vit-base", "a/b", "timm/deit.fb_in1k"})
    EXPECT_TRUE(weights::is_hub_name(name)) << name;
  for (const auto* name : {"", "a", "a/", "/b", "a/b/c", "../b", "a/..", "./b", "~/b", "a/b c"})
    EXPECT_FALSE(weights::is_hub_name(name)) << name;
}

TEST(Cache, IsWhereTheEnvironmentSays) {
  setenv("HOME", "/home/me", 1);
  unsetenv("VIT_HOME");
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(weights::cache_folder(), "/home/me/.cache/vit");
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(weights::cache_folder(), "/home/me/.cache/vit");
  setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(weights::cache_folder(), "/cache/vit");
  setenv("VIT_HOME", "/vit", 1);
  EXPECT_EQ(weights::cache_folder(), "/vit");
  EXPECT_EQ(weights::model_folder("a/b"), "/vit/models/a/b");
  EXPECT_EQ(weights::model_folder("a/b", "refs/pr/1"), "/vit/models/a/b@refs--pr--1");
}

TEST(DownloadProgress, SaysHowFarHowFastAndHowLong) {
  EXPECT_EQ(
      progress_text(DownloadState{.name = "model.safetensors",
                                  .done = 9'900'000,
                                  .total = 22'900'000,
                                  .bytes_per_second = 3'100'000}),
      "model.safetensors         43 % ████████▋             9.9 MB of 22.9 MB  3.1 MB/s  0:04 "
      "left");
  EXPECT_EQ(progress_text(DownloadState{.name = "config.json", .done = 500, .total = {}}),
            "config.json               500 bytes");
}

TEST(Retries, EndWithoutProgressAndNotBefore) {
  int calls = 0, progress = 0;
  const Retries quick{.attempts = 3, .pause = std::chrono::milliseconds(0)};
  const auto broken = [&] {
    if (++calls <= 5) ++progress;
    throw BrokenConnection("broken");
  };
  EXPECT_THROW(with_retries(
                   quick, [&] { return progress; }, broken),
               BrokenConnection);
  EXPECT_EQ(calls, 5 + 2);
  calls = 0;
  const auto unreachable = [&] {
    ++calls;
    throw NetworkError("unreachable");
  };
  EXPECT_THROW(with_retries(
                   quick, [] { return 0; }, unreachable),
               NetworkError);
  EXPECT_EQ(calls, 1);
}

TEST(PartFile, NeverCutsAFileThatAnotherProgramHasJustFinished) {
  const test::Folder folder(test::fast_folder());
  const std::string path = folder.path("weights.bin");
  constexpr std::string_view kContent = "all of its bytes";
  const RemoteFile first{"weights.bin", "", kContent.size(), "first"};
  const RemoteFile second{"weights.bin", "", kContent.size(), "second"};
  std::atomic<bool> done{false};
  const auto restart = [&] {
    while (!done) try {
        const PartFile part(path, second);
      } catch (const Error&) {  // another thread is fetching it
        std::this_thread::yield();
      }
  };
  // More threads than cores: one is then interrupted between opening the file and locking it.
  std::vector<std::jthread> others;
  for (int i = 0; i < 8; ++i) others.emplace_back(restart);
  size_t finished = 0;
  while (finished < 200 && !HasFailure()) try {
      PartFile part(path, first);
      part.add(std::as_bytes(std::span(kContent)));
      part.finish();
      ++finished;
      EXPECT_EQ(std::filesystem::file_size(path), kContent.size()) << "after " << finished;
    } catch (const Error&) {  // another thread has it
    }
  done = true;
  others.clear();
  EXPECT_EQ(std::filesystem::file_size(path), kContent.size());
}

}  // namespace
}  // namespace vit::tools
