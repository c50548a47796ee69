// Every command that takes a folder lists it by the same policy, that of vit/data/README.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/tools/subprocess.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

const std::string kModel = golden("hf_vit");
const std::string kSkipped = "skipped: 2 .txt, 2 special (pipe, socket or device)";

/// Two class folders "1" and "2", with three images each: a.png, deep/b.PNG and, through a link,
/// linked/c.png. Everything else in them must be left out.
void fill(const Folder& folder) {
  const auto put = [&](const std::string& name) {
    fs::create_directories(fs::path(folder.path(name)).parent_path());
    fs::copy_file(golden_image("hf_vit"), folder.path(name));
  };
  put("elsewhere/c.png");
  for (const std::string root : {"data/1/", "data/2/"}) {
    for (const auto* name : {"a.png", "deep/b.PNG", ".hidden.png", ".hidden/d.png"})
      put(root + name);
    folder.write(root + "notes.txt", "not an image");
    fs::create_directory_symlink("../../elsewhere", folder.path(root + "linked"));
    fs::create_directory_symlink("..", folder.path(root + "deep/up"));
    ASSERT_EQ(mkfifo(folder.path(root + "pipe.png").c_str(), 0600), 0);
  }
}

size_t lines_in(const std::string& text) {
  return static_cast<size_t>(std::ranges::count(text, '\n'));
}

TEST(FolderPolicy, IsThatOfBatchAndEmbed) {
  const Folder folder;
  fill(folder);
  for (const std::string command : {"batch", "embed"}) {
    const Finished finished = run({command, "-m", kModel, "-o", "-", folder.path("data")});
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_EQ(lines_in(finished.out), 6u) << "a row for each image: " << finished.out;
    EXPECT_THAT(finished.err, HasSubstr(kSkipped));
  }
}

TEST(FolderPolicy, IsThatOfEval) {
  const Folder folder;
  fill(folder);
  const Finished finished = run({"eval", "-m", kModel, "--json", folder.path("data")});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(json::parse(finished.out).at("images"), 6);
  EXPECT_EQ(json::parse(finished.out).at("skipped"), json::parse(R"({".txt": 2, "special": 2})"));
  EXPECT_EQ(finished.err, "vit: " + kSkipped + "\n");
  EXPECT_EQ(run({"eval", "-m", kModel, "-q", folder.path("data")}).err, "");
}

TEST(FolderPolicy, IsThatOfAttention) {
  const Folder folder;
  fill(folder);
  const Finished finished =
      run({"attention", "-m", kModel, "-o", folder.path("m.json"), folder.path("data")});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(lines_in(finished.out), 7u) << "six maps and the index: " << finished.out;
  EXPECT_EQ(finished.err, "vit: " + kSkipped + "\n");
}

TEST(FolderPolicy, IsThatOfHeads) {
  const Folder folder;
  fill(folder);
  const Finished finished = run({"heads", "-m", kModel, "--images", folder.path("data"), "-o",
                                 folder.path("h.json"), "--importance-images", "0"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  const json heads = json::parse(read_file(folder.path("h.json")));
  EXPECT_EQ(heads.at("images"), 6);
  EXPECT_EQ(heads.at("skipped"), json::parse(R"({".txt": 2, "special": 2})"));
  EXPECT_EQ(finished.err, "vit: " + kSkipped + "\n");
}

TEST(FolderPolicy, IsThatOfTrain) {
  const Folder folder;
  fill(folder);
  const Finished finished =
      run({"train", folder.path("data"), "-o", folder.path("m.safetensors"), "--from", kModel});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("2 classes, 4 training and 2 validation images"));
  EXPECT_THAT(finished.err, HasSubstr(kSkipped));
}

}  // namespace
}  // namespace vit::tools
