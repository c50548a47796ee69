// A teacher's answers: what is stored of them, and the errors for damaged or unrelated files.
#include "vit/train/teaching.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/folder.h"
#include "tests/support/message_of.h"
#include "vit/base/error.h"
#include "vit/train/batch.h"

namespace vit::train {
namespace {

using test::Folder;
using vit::test::message_of;

TeacherTable two_images(size_t crops = 2) {
  TeacherTable table({.images = 2, .classes = 4, .crops = crops, .kept = 2, .fingerprint = 7});
  for (size_t pass = 0; pass < table.shape().passes(); ++pass) {
    table.set(0, std::vector{0.5f, 0.25f, 0.125f, 0.125f});
    table.set(1, std::vector{0.0f, 0.0f, pass == 0 ? 1.0f : 0.0f, pass == 0 ? 0.0f : 1.0f});
    table.finish_pass();
  }
  return table;
}

std::vector<float> answer(const TeacherTable& table, std::uint64_t epoch, size_t image) {
  std::vector<float> row(4);
  table.get(epoch, image, row);
  return row;
}

TEST(TeacherTable, KeepsTheMostLikelyClassesAndSpreadsTheRest) {
  const TeacherTable table = two_images();
  EXPECT_EQ(answer(table, 0, 0), (std::vector{0.5f, 0.25f, 0.125f, 0.125f}));
  TeacherTable uneven({.images = 1, .classes = 4, .crops = 0, .kept = 1, .fingerprint = 0});
  uneven.set(0, std::vector{0.125f, 0.5f, 0.25f, 0.125f});
  uneven.finish_pass();
  const float rest = 0.5f / 3.0f;
  EXPECT_EQ(answer(uneven, 5, 0), (std::vector{rest, 0.5f, rest, rest}));
}

TEST(TeacherTable, EpochsTakeTheCropsInTurn) {
  const TeacherTable table = two_images();
  for (const std::uint64_t epoch : {0, 2, 4}) EXPECT_EQ(answer(table, epoch, 1)[2], 1.0f);
  for (const std::uint64_t epoch : {1, 3, 5}) EXPECT_EQ(answer(table, epoch, 1)[3], 1.0f);
}

TEST(TeacherTable, ComesBackFromItsFile) {
  const Folder folder;
  const TeacherTable table = two_images();
  table.save(folder.path("answers"));
  const TeacherTable read = TeacherTable::load(folder.path("answers"), table.shape());
  EXPECT_TRUE(read.complete());
  EXPECT_EQ(read.hash(), table.hash());
  EXPECT_EQ(answer(read, 1, 1), answer(table, 1, 1));
}

TEST(TeacherTable, AnUnfinishedPassIsNotKept) {
  const Folder folder;
  const TeacherShape shape{.images = 2, .classes = 4, .crops = 2, .kept = 2, .fingerprint = 7};
  TeacherTable table(shape);
  table.set(0, std::vector{1.0f, 0.0f, 0.0f, 0.0f});
  table.set(1, std::vector{1.0f, 0.0f, 0.0f, 0.0f});
  table.finish_pass();
  table.set(0, std::vector{0.0f, 1.0f, 0.0f, 0.0f});
  table.save(folder.path("answers"));
  const TeacherTable read = TeacherTable::load(folder.path("answers"), shape);
  EXPECT_EQ(read.finished(), 1u);
  EXPECT_FALSE(read.complete());
}

TEST(TeacherTable, AForeignOrDamagedFileIsRefused) {
  const Folder folder;
  const TeacherTable table = two_images();
  const std::string path = folder.path("answers");
  table.save(path);
  TeacherShape other = table.shape();
  other.fingerprint = 8;
  EXPECT_EQ(message_of([&] { TeacherTable::load(path, other); }),
            path + ": the teacher was shown other images or crops, or more or fewer of them");
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(70).put('x');
  EXPECT_EQ(message_of([&] { TeacherTable::load(path, table.shape()); }),
            path + ": damaged, its checksum differs");
  folder.write("answers", "something else, and long enough to be a file of its kind");
  EXPECT_EQ(message_of([&] { TeacherTable::load(path, table.shape()); }),
            path + ": is not a file of a teacher's answers of this version");
  EXPECT_EQ(message_of([&] { TeacherTable::load(folder.path("none"), table.shape()); }),
            folder.path("none") + ": cannot be opened");
}

TEST(RestrictedSoftmax, IsTheSoftmaxOfTheChosenClasses) {
  const std::vector<float> logits{50.0f, 1.0f, 0.0f, 1.0f};
  const std::vector<size_t> classes{1, 2, 3};
  std::vector<float> probabilities(3);
  restricted_softmax(logits, classes, probabilities);
  const float e = std::exp(1.0f), sum = 2.0f * e + 1.0f;
  EXPECT_NEAR(probabilities[0], e / sum, 1e-6f);
  EXPECT_NEAR(probabilities[1], 1.0f / sum, 1e-6f);
  EXPECT_NEAR(probabilities[2], e / sum, 1e-6f);
}

TEST(TeacherCrop, IsWhatTheEpochThatTakesItsTurnShows) {
  data::Dataset dataset;
  dataset.labels = {"a", "b", "c", "d"};
  for (size_t i = 0; i < 2; ++i) {
    Random random({i});
    patch::Image image{16, 16, std::vector<std::uint8_t>(16 * 16 * 3)};
    for (auto& value : image.pixels) value = static_cast<std::uint8_t>(random.below(256));
    dataset.train.push_back({image, i});
  }
  ModelConfig config;
  config.embedding.image_height = config.embedding.image_width = 16;
  config.embedding.patch_height = config.embedding.patch_width = 16;
  Teaching teaching{two_images(), 1.0};
  BatchRule rule;
  rule.label_smoothing = 0.0;
  rule.seed = 3;
  rule.augmentation = {.crop = CropKind::kPad, .operations = 0, .erase = 0.0};
  BatchSource source{.dataset = dataset, .teaching = &teaching};
  source.recipe.resize_height = source.recipe.resize_width = 16;
  source.recipe.crop_height = source.recipe.crop_width = 16;
  BatchMaker maker(source, config, rule);
  const std::vector<Draw> draws{{.image = 1}, {.image = 0}};
  for (const std::uint64_t epoch : {0, 1, 2, 3}) {
    maker.make(draws, epoch, nullptr);
    const patch::Image crop = teacher_crop(source, rule, 1, epoch % 2);
    for (size_t i = 0; i < 16 * 16; ++i)
      EXPECT_NEAR(maker.patches(0, 1)(0, i), static_cast<float>(crop.pixels[3 * i]) / 127.5f - 1.0f,
                  1e-5f);
    EXPECT_EQ(maker.targets(0, 1)(0, epoch % 2 == 0 ? 2 : 3), 1.0f);
  }
}

}  // namespace
}  // namespace vit::train
