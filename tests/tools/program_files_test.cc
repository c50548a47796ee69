// Outputs that would overwrite an input, interrupted writing, and the default model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/paths.h"
#include "tests/tools/subprocess.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::UnorderedElementsAre;
using Words = std::vector<std::string>;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  return names;
}

TEST(Outputs, ConvertDoesNotOverwriteTheModelItReads) {
  const Folder folder;
  fs::copy(golden("timm_vit"), folder.path("model"));
  const std::string weights = folder.path("model/model.safetensors");
  const std::string before = read_file(weights);
  fs::create_symlink(weights, folder.path("link"));
  for (const auto& model : {folder.path("model"), weights})
    for (const auto& output : {weights, folder.path("link")}) {
      const Finished refused = run({"convert", "--force", model, output});
      EXPECT_EQ(refused.status, 2);
      EXPECT_EQ(refused.err, "vit: " + output + ": the output would overwrite the input " +
                                 weights + "; give another name\nvit: see 'vit convert --help'\n");
      EXPECT_EQ(read_file(weights), before);
    }
}

TEST(Outputs, EvalDoesNotOverwriteTheListItReads) {
  const Folder folder;
  const std::string list = folder.write("classes.csv", golden_image("hf_vit") + ",0\n");
  const std::string before = read_file(list);
  const Finished refused = run({"eval", "-m", golden("hf_vit"), list, "-o", folder.path()});
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.err, "vit: " + list + ": the output would overwrite the input " + list +
                             "; give another name\nvit: see 'vit eval --help'\n");
  EXPECT_EQ(read_file(list), before);
}

/// The system ends a program that writes more than it may, here in the middle of the model.
Finished killed_while_writing(const std::string& output) {
  Call call;
  call.program = "sh";
  call.arguments = {"-c", "ulimit -c 0; ulimit -f 64; exec \"$0\" convert --force \"$1\" \"$2\"",
                    test::program(), golden("timm_vit"), output};
  return run(call);
}

TEST(Outputs, AKillInTheMiddleLeavesTheOldFileAndNoOther) {
  const Folder folder;
  const std::string output = folder.write("m.safetensors", "before");
  EXPECT_GT(killed_while_writing(output).status, 128);
  EXPECT_EQ(read_file(output), "before");
  // On a file system without unnamed files the next run removes what the killed one left.
  EXPECT_EQ(run({"convert", "--force", golden("timm_vit"), output}).status, 0);
  EXPECT_THAT(names_in(folder.path()), UnorderedElementsAre("m.safetensors"));
  EXPECT_GT(killed_while_writing(folder.path("new.safetensors")).status, 128);
  EXPECT_FALSE(fs::exists(folder.path("new.safetensors")));
}

TEST(Outputs, AFullDiskLeavesTheOldFile) {
  const Folder folder;
  const std::string output = folder.write("m.safetensors", "before");
  Call call;
  call.arguments = {"convert", "--force", golden("timm_vit"), output};
  call.largest_file = 1 << 16;
  const Finished finished = run(call);
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, testing::MatchesRegex("vit: " + output +
                                                  ": cannot write [0-9]+ bytes: File too large\n"));
  EXPECT_EQ(read_file(output), "before");
  EXPECT_THAT(names_in(folder.path()), UnorderedElementsAre("m.safetensors"));
}

TEST(Outputs, ALinkAsOutputStaysALink) {
  const Folder folder;
  folder.write("real/old.safetensors", "before");
  fs::create_symlink("real/old.safetensors", folder.path("latest"));
  ASSERT_EQ(run({"convert", "--force", golden("timm_vit"), folder.path("latest")}).status, 0);
  EXPECT_TRUE(fs::is_symlink(folder.path("latest")));
  EXPECT_NE(read_file(folder.path("real/old.safetensors")), "before");
}

/// Every command that answers with the model of the toolkit where none is named, on one picture.
std::vector<Words> answering_commands(const Folder& folder) {
  const std::string picture = golden_image("timm_vit");
  folder.write("list.csv", "file,label\n" + picture + ",0\n");
  return {{"classify", picture},
          {"batch", picture, "-o", folder.path("rows.csv")},
          {"eval", folder.path("list.csv")},
          {"attention", picture, "-o", folder.path("map.png")},
          {"heads", "--images", picture, "--importance-images", "0"}};
}

Finished run_with_model(Words arguments, const std::string& model) {
  Call call;
  call.arguments = std::move(arguments);
  call.environment = {"VIT_MODEL=" + model};
  return run(call);
}

constexpr const char* kHint =
    "vit: no -m given: using the bundled model, which knows 200 classes ('vit info --labels' lists "
    "them); 'vit models' lists larger models\n";

TEST(NoModelGiven, EveryCommandSaysWhichModelAnswersAndWhatItKnows) {
  const Folder folder;
  for (const Words& command : answering_commands(folder)) {
    const Finished finished = run_with_model(command, "");
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_THAT(finished.err, testing::StartsWith(kHint)) << command[0];
    EXPECT_THAT(finished.out, testing::Not(HasSubstr("no -m given"))) << command[0];
  }
}

TEST(NoModelGiven, NoNoteIsWrittenWithAModelOrWithQuiet) {
  const std::string model = golden("timm_vit");
  for (size_t i = 0; i < answering_commands(Folder()).size(); ++i) {
    const auto error = [&](const Words& more, const std::string& variable) {
      const Folder folder;
      Words command = answering_commands(folder)[i];
      command.insert(command.end(), more.begin(), more.end());
      return run_with_model(command, variable).err;
    };
    SCOPED_TRACE(i);
    EXPECT_EQ(error({"--quiet"}, ""), "");
    EXPECT_THAT(error({"-m", model}, ""), testing::Not(HasSubstr("no -m given")));
    EXPECT_THAT(error({}, model), testing::Not(HasSubstr("no -m given")));
  }
}

}  // namespace
}  // namespace vit::tools
