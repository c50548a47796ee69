/// Operands that name nothing, rows that all fail and skipped files are all reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/paths.h"
#include "tests/tools/batch/batch_call.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;

const std::string kExpected =
    "no image in it, expected files that end in .jpg, .png, .webp, .bmp, .tif, .gif, .heic or "
    ".avif";

TEST(Operands, ThatNameNothingAreAnErrorBeforeAnythingIsDone) {
  const Folder folder;
  write_images(folder, 3);
  folder.write("raw/a.nef", "");
  const std::string output = folder.path("r.csv"), in = folder.path("in");
  ASSERT_EQ(batch({in, "-o", output}).status, 0);
  const std::string before = read_file(output);
  for (const auto* command : {"batch", "embed"})
    for (const auto& more : {std::vector<std::string>{}, {"--restart"}, {"--retry-failed"}}) {
      // Fails before the model is looked for.
      Call call;
      call.arguments = {command,
                        "-m",
                        "nowhere",
                        folder.path("phtos/"),
                        in,
                        folder.path("in/*.JPG"),
                        folder.path("raw"),
                        "-o",
                        *command == 'b' ? output : folder.path("r.npy")};
      call.arguments.insert(call.arguments.end(), more.begin(), more.end());
      const Finished finished = run(call);
      EXPECT_EQ(finished.status, 2);
      EXPECT_EQ(finished.err, "vit: 3 of 4 inputs name nothing:\n  " + folder.path("phtos/") +
                                  ": no such file or folder\n  " + folder.path("in/*.JPG") +
                                  ": no file or folder matches this pattern\n  " +
                                  folder.path("raw") + ": " + kExpected +
                                  "; skipped: 1 .nef\nvit: see 'vit " + command + " --help'\n");
    }
  EXPECT_EQ(read_file(output), before);
  EXPECT_FALSE(fs::exists(folder.path("r.npy")));
}

TEST(Operands, ThatVanishedAreAnErrorAlsoForAFinishedRun) {
  const Folder folder;
  write_images(folder, 3);
  const std::string in = folder.path("in"), output = folder.path("r.csv");
  const std::string extra = folder.write("extra.bmp", image_bytes());
  ASSERT_EQ(batch({in, extra, "-o", output}).status, 0);
  fs::remove(extra);
  const Finished finished = batch({in, extra, "-o", output});
  EXPECT_EQ(finished.status, 2);
  EXPECT_EQ(finished.err,
            "vit: " + extra + ": no such file or folder\nvit: see 'vit batch --help'\n");
  EXPECT_EQ(batch({in, "-o", output}).status, 0);
}

TEST(Operands, FromListsAreRowsWhateverTheyName) {
  const Folder folder;
  const std::string good = folder.write("a.bmp", image_bytes()), gone = folder.path("gone.jpg");
  Call call = batch_call({"-", "-o", "-"});
  call.input = gone + "\n" + good + "\n";
  const Finished finished = run(call);
  EXPECT_EQ(finished.status, 0) << finished.err;
  const auto rows = rows_of(finished.out);
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0]["reason"], "no such file");
}

TEST(Batch, FailsWhenNoRowSucceeded) {
  const Folder folder;
  const std::string bad = folder.write("bad.jpg", ""), worse = folder.write("worse.jpg", "x");
  const std::string output = folder.path("r.csv");
  const Finished finished = batch({bad, worse, "-o", output});
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.err, "vit: " + output + ": no row succeeded: 2 failed\n");
  EXPECT_EQ(batch({bad, worse, "-o", output}).status, 1) << "nothing was left to do";
  auto loud = batch_arguments({bad, "-o", "-"});
  std::erase(loud, "--quiet");
  EXPECT_EQ(run(loud).status, 1);
  EXPECT_THAT(run(loud).err, HasSubstr("vit: done: 1 row, 1 failed, "));
  // Other shards may have good rows.
  EXPECT_EQ(batch({bad, "-o", output, "--shard", "0/1"}).status, 0);
  EXPECT_EQ(batch({folder.write("good.bmp", image_bytes()), bad, "-o", "-"}).status, 0);
}

TEST(Batch, SaysWhichFilesItSkipped) {
  const Folder folder;
  write_images(folder, 2);
  for (const auto* name : {"in/a.NEF", "in/b.nef", "in/c/d.mp4", "in/README", "in/.hidden.mp4"})
    folder.write(name, "x");
  const std::string skipped = "; skipped: 2 .nef, 1 .mp4, 1 with no ending\n";
  for (const auto& [command, output] :
       {std::pair{"batch", "r.csv"}, {"batch", "r.csv"}, {"batch", "-"}, {"embed", "r.npy"}}) {
    Call call;
    const std::string place = std::string(output) == "-" ? "-" : folder.path(output);
    call.arguments = {command, "-m", golden("hf_vit"), folder.path("in"), "-o", place};
    const Finished finished = run(call);
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_THAT(finished.err, EndsWith(skipped)) << command;
    call.arguments.push_back("--quiet");
    EXPECT_EQ(run(call).err, "");
  }
  ASSERT_EQ(batch({folder.path("in"), "-o", folder.path("s.csv"), "--shard", "0/1"}).status, 0);
  const auto marker = nlohmann::json::parse(read_file(folder.path("s-00000-of-00001.csv.done")));
  EXPECT_EQ(marker["skipped"].dump(), R"({".mp4":1,".nef":2,"no ending":1})");
  EXPECT_EQ(run({"join", folder.path("s.csv")}).status, 0);
}

TEST(Batch, CountsEachPhotographOfAPatternOnce) {
  const Folder folder;
  for (const auto* name : {"in/cam1/100/1.bmp", "in/cam1/2.bmp", "in/cam2/3.bmp", "in/4.bmp"})
    folder.write(name, image_bytes());
  const Finished finished = batch({folder.path("in/**"), "-o", "-"});
  EXPECT_EQ(finished.status, 0) << finished.err;
  std::vector<std::string> paths;
  for (const auto& row : rows_of(finished.out)) paths.push_back(row["path"]);
  EXPECT_THAT(paths,
              testing::ElementsAre(folder.path("in/4.bmp"), folder.path("in/cam1/100/1.bmp"),
                                   folder.path("in/cam1/2.bmp"), folder.path("in/cam2/3.bmp")));
}

TEST(Batch, DrawsNoBarWhereItsRowsAre) {
  if (std::system("command -v script >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "script (Debian: bsdutils) is not installed";
  const Folder folder;
  const std::string photo = photograph(1800, 1800, 3);
  constexpr int kLongEnough = 40;  // seconds of decoding, where a bar comes after a fraction of one
  for (int i = 0; i < kLongEnough; ++i) folder.write("in/" + std::to_string(i) + ".png", photo);
  const auto on_terminal = [&](const std::string& more) {
    Call call;
    call.program = "script";
    call.arguments = {"-qec",
                      std::string(test::program()) + " batch --threads 1 -m " + golden("hf_vit") +
                          " " + folder.path("in") + " -o " + more,
                      "/dev/null"};
    return run(call).out;
  };
  EXPECT_THAT(on_terminal(folder.path("r.csv")), HasSubstr("\x1b[K")) << "a bar beside a file";
  EXPECT_THAT(on_terminal("- >" + folder.path("r.jsonl")), HasSubstr("\x1b[K"));
  for (const auto* more : {"-", "- | cat"}) {
    const std::string shown = on_terminal(more);
    EXPECT_THAT(shown, HasSubstr("\"status\":\"ok\""));
    EXPECT_THAT(shown, testing::Not(HasSubstr("\x1b[K"))) << more;
  }
}

}  // namespace
}  // namespace vit::tools
