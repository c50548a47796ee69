// vit train with a teacher, as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/random_checkpoint.h"
#include "tests/support/small_config.h"
#include "tests/tools/subprocess.h"
#include "tests/tools/train/train_call.h"
#include "weights/save.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(Teacher, LearnsFromATeacherOfTheSameClasses) {
  const Folder folder;
  write_pictures(folder.path("data"), 12);
  ASSERT_EQ(run(train(folder, {})).status, 0);
  fs::rename(folder.path("m.safetensors"), folder.path("teacher.safetensors"));
  const std::vector<std::string> lessons{"--teacher", folder.path("teacher.safetensors"),
                                         "--teacher-share", "1", "--restart"};
  // The labels have no weight here: the model only learns the teacher's answers.
  write_pictures(folder.path("wrong"), 12);
  fs::remove_all(folder.path("data"));
  fs::create_directories(folder.path("data"));
  fs::rename(folder.path("wrong/red"), folder.path("data/blue"));
  fs::rename(folder.path("wrong/blue"), folder.path("data/green"));
  fs::rename(folder.path("wrong/green"), folder.path("data/red"));
  const Finished finished = run(train(folder, lessons));
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(classified(folder, "data/blue/0.png"), HasSubstr("red"));
  EXPECT_THAT(classified(folder, "data/green/0.png"), HasSubstr("blue"));
  EXPECT_THAT(classified(folder, "data/red/0.png"), HasSubstr("green"));

  fs::rename(folder.path("data/red"), folder.path("data/yellow"));
  const Finished other = run(train(folder, lessons));
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err,
              HasSubstr("'yellow' is not a class of " + folder.path("teacher.safetensors") +
                        " by name, WordNet id or index (0 to 2)"));
  EXPECT_THAT(other.err, HasSubstr("; --teacher-classes FILE matches the classes"));
  auto named = lessons;
  named.insert(named.end(), {"--teacher-classes", folder.write("classes", "yellow\tred\n")});
  EXPECT_EQ(run(train(folder, named)).status, 0);
  named.back() = folder.write("classes", "yellow red\n");
  EXPECT_THAT(run(train(folder, named)).err,
              HasSubstr("classes: line 1 is 'yellow red', expected a class, a tab and its name"));
}

TEST(Teacher, LearnsFromATeacherThatHasNoBackwardPass) {
  const Folder folder;
  write_pictures(folder.path("data"), 6);
  const auto write_teacher = [&](unsigned seed) {
    ModelConfig config = test::small_config(
        {.patch = 4, .width = 32, .depth = 2, .heads = 2, .mlp_width = 32, .classes = 3});
    config.encoder.attention = AttentionKind::kDifferential;
    weights::Checkpoint checkpoint = test::random_checkpoint(config, seed);
    checkpoint.labels = {"blue", "green", "red"};
    weights::save(folder.path("teacher.safetensors"), checkpoint);
  };
  write_teacher(1);
  const std::vector<std::string> lessons{"--teacher",       folder.path("teacher.safetensors"),
                                         "--store-teacher", folder.path("answers"),
                                         "--epochs",        "1",
                                         "--restart"};
  const Finished first = run(train(folder, lessons));
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("pass 1 of 1 of the teacher's answers is in "));
  EXPECT_THAT(run(train(folder, lessons)).out, HasSubstr("the teacher's answers are reused"));
  write_teacher(2);
  EXPECT_THAT(run(train(folder, lessons)).err,
              HasSubstr("answers: holds the answers of another teacher than "));
}

TEST(Teacher, APreviewShowsItsCropsWithoutAskingIt) {
  const Folder folder;
  write_pictures(folder.path("data"), 6);
  ASSERT_EQ(run(train(folder, {"--epochs", "1"})).status, 0);
  fs::rename(folder.path("m.safetensors"), folder.path("teacher.safetensors"));
  const auto preview = [&](const char* crops) {
    const Finished finished = run(train(
        folder, {"--teacher", folder.path("teacher.safetensors"), "--teacher-crops", crops,
                 "--store-teacher", folder.path("answers"), "--preview", folder.path("p.png")}));
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_FALSE(fs::exists(folder.path("answers")));
    return read_file(folder.path("p.png"));
  };
  EXPECT_NE(preview("1"), preview("2")) << "the second epoch shows another crop";
}

TEST(Teacher, StoredAnswersOfATeacherAreReused) {
  const Folder folder;
  write_pictures(folder.path("data"), 12);
  ASSERT_EQ(run(train(folder, {})).status, 0);
  fs::rename(folder.path("m.safetensors"), folder.path("teacher.safetensors"));
  const std::vector<std::string> lessons{"--teacher",       folder.path("teacher.safetensors"),
                                         "--store-teacher", folder.path("answers"),
                                         "--teacher-crops", "2",
                                         "--restart"};
  const Finished first = run(train(folder, lessons));
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("pass 2 of 2 of the teacher's answers is in "));
  const std::string model = read_file(folder.path("m.safetensors"));
  const Finished again = run(train(folder, lessons));
  EXPECT_THAT(again.out, HasSubstr("answers: the teacher's answers are reused"));
  EXPECT_EQ(read_file(folder.path("m.safetensors")), model);

  fs::rename(folder.path("teacher.safetensors"), folder.path("elsewhere.safetensors"));
  const Finished alone = run(train(folder, lessons));
  EXPECT_EQ(alone.status, 0) << alone.err;
  EXPECT_THAT(alone.err, HasSubstr("teacher.safetensors: does not exist; its stored answers in "));
  EXPECT_EQ(read_file(folder.path("m.safetensors")), model);

  fs::rename(folder.path("m.safetensors"), folder.path("teacher.safetensors"));
  EXPECT_THAT(run(train(folder, lessons)).err,
              HasSubstr("answers: holds the answers of another teacher than "));
  auto other_crops = lessons;
  other_crops[5] = "3";
  EXPECT_THAT(run(train(folder, other_crops)).err,
              HasSubstr("answers: the teacher was shown other images or crops, or more or fewer of "
                        "them; use another file, or remove this one"));
}

}  // namespace
}  // namespace vit::tools
