#include "vit/data/dataset.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <filesystem>
#include <opencv2/imgcodecs.hpp>

#include "tests/support/folder.h"
#include "vit/base/error.h"

namespace vit::data {
namespace {

namespace fs = std::filesystem;

class Data : public ::testing::Test {
 protected:
  void add_image(const fs::path& path, int value, int edge = 8) {
    fs::create_directories(fs::path(folder_.path(path)).parent_path());
    cv::imwrite(folder_.path(path), cv::Mat(edge, edge, CV_8UC3, cv::Scalar(value, value, value)));
  }
  void add_class(const std::string& name, int count, int value) {
    for (int i = 0; i < count; ++i) add_image(fs::path(name) / (std::to_string(i) + ".png"), value);
  }
  void write(const fs::path& path, const std::vector<std::uint8_t>& bytes) {
    folder_.write(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  void write_gzipped(const fs::path& path, const std::vector<std::uint8_t>& bytes) {
    const gzFile file = gzopen(folder_.path(path).c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
  }
  std::string message() {
    try {
      read_dataset(folder_.path(), {});
      return "accepted";
    } catch (const Error& error) {
      std::string text = error.what();
      const size_t at = text.find(folder_.path());
      if (at != text.npos) text.replace(at, folder_.path().size(), "DATA");
      return text;
    }
  }

  test::Folder folder_;
};

TEST_F(Data, FoldersAreClassesInTheOrderOfTheirNames) {
  add_class("train/dog", 3, 10);
  add_class("train/cat", 2, 200);
  add_class("val/cat", 1, 200);
  add_class("val/dog", 1, 10);
  const Dataset data = read_dataset(folder_.path(), {});
  EXPECT_EQ(data.labels, (std::vector<std::string>{"cat", "dog"}));
  ASSERT_EQ(data.train.size(), 5u);
  EXPECT_EQ(data.validation.size(), 2u);
  EXPECT_FALSE(data.split_by_us);
  EXPECT_EQ(data.train.front().label, 0u);
  EXPECT_EQ(data.train.front().image.pixels.front(), 200);
}

TEST_F(Data, WithoutValidationAShareOfEveryClassIsSplitOff) {
  add_class("a", 20, 1);
  add_class("b", 10, 2);
  ThreadPool pool(2);
  const Dataset data = read_dataset(folder_.path(), {.validation_share = 0.2, .pool = &pool});
  EXPECT_TRUE(data.split_by_us);
  EXPECT_EQ(data.train.size(), 24u);
  ASSERT_EQ(data.validation.size(), 6u);
  size_t of_a = 0;
  for (const Sample& sample : data.validation) of_a += sample.label == 0 ? 1 : 0;
  EXPECT_EQ(of_a, 4u);
}

TEST_F(Data, LargeImagesAreReducedOnce) {
  add_image("a/0.png", 1, 64);
  add_image("a/1.png", 1, 64);
  add_image("b/0.png", 2, 10);
  add_image("b/1.png", 2, 10);
  const Dataset data = read_dataset(folder_.path(), {.short_edge = 16});
  EXPECT_EQ(data.train[0].image.width, 16u);
  EXPECT_EQ(data.train[1].image.width, 10u);
}

TEST_F(Data, UnreadableImagesAreCountedAndSkipped) {
  add_class("a", 3, 1);
  add_class("b", 3, 2);
  write("a/broken.jpg", {1, 2, 3});
  const Dataset data = read_dataset(folder_.path(), {});
  ASSERT_EQ(data.skipped.size(), 1u);
  EXPECT_NE(data.skipped[0].find("broken.jpg"), std::string::npos);
  EXPECT_EQ(data.train.size() + data.validation.size(), 6u);
}

TEST_F(Data, PipesAndLinksToThemselvesAreSkippedToo) {
  add_class("a", 3, 1);
  add_class("b", 3, 2);
  ASSERT_EQ(mkfifo(folder_.path("a/pipe.jpg").c_str(), 0600), 0);
  fs::create_symlink("loop.jpg", folder_.path("b/loop.jpg"));
  fs::create_symlink("class", folder_.path("class"));
  const Dataset data = read_dataset(folder_.path(), {});
  ASSERT_EQ(data.skipped.size(), 1u);
  EXPECT_NE(data.skipped[0].find("loop.jpg: "), std::string::npos);
  EXPECT_EQ(data.other_files.text(), "skipped: 1 special (pipe, socket or device)");
  EXPECT_EQ(data.labels, (std::vector<std::string>{"a", "b"}));
}

TEST_F(Data, SaysWhatIsWrongWithTheFolders) {
  EXPECT_EQ(message(), "DATA: no class folders, expected one folder of images per class");
  add_class("a", 2, 1);
  EXPECT_EQ(message(), "DATA: 1 class, expected at least two to tell apart");
  fs::create_directories(folder_.path("b"));
  EXPECT_EQ(message(),
            "DATA/b: no image in this class folder, expected files that end in .jpg, .png, .webp, "
            ".bmp, .tif, .gif, .heic or .avif; remove the folder or fill it");
  write("b/x.png", {1, 2, 3});
  EXPECT_NE(message().find("class 'b' has no readable training image"), std::string::npos);
}

TEST_F(Data, PartsWithOtherClassesAreRefused) {
  add_class("train/a", 2, 1);
  add_class("train/b", 2, 1);
  add_class("val/a", 2, 1);
  add_class("val/c", 2, 1);
  EXPECT_NE(message().find("its class folders are not those of"), std::string::npos);
}

std::vector<std::uint8_t> idx_images(std::uint8_t count) {
  std::vector<std::uint8_t> bytes{0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 2, 0, 0, 0, 3};
  for (int i = 0; i < 6 * count; ++i) bytes.push_back(static_cast<std::uint8_t>(i));
  return bytes;
}

std::vector<std::uint8_t> idx_labels(std::uint8_t count) {
  std::vector<std::uint8_t> bytes{0, 0, 8, 1, 0, 0, 0, count};
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(i % 2));
  return bytes;
}

TEST_F(Data, AValidationPartThatCannotBeReadIsRefused) {
  for (const std::string part : {"train", "val"})
    for (const std::string name : {"a", "b"}) add_class(part + "/" + name, 2, 1);
  write("val/b/0.png", {1, 2, 3});
  EXPECT_EQ(message(), "accepted") << "one of two is left";
  write("val/b/1.png", {1, 2, 3});
  EXPECT_NE(message().find("DATA/val: class 'b' has no readable validation image"),
            std::string::npos);
}

TEST_F(Data, AClassMayBeCalledTrain) {
  for (const std::string name : {"bus", "car", "train"}) add_class(name, 4, 1);
  EXPECT_EQ(read_dataset(folder_.path(), {}).labels,
            (std::vector<std::string>{"bus", "car", "train"}));
}

TEST_F(Data, IncompleteFilesOfKnownFormatsAreRefused) {
  write("train-images-idx3-ubyte", idx_images(4));
  EXPECT_NE(message().find("no train-labels-idx1-ubyte beside it"), std::string::npos);
  write("train-labels-idx1-ubyte", idx_labels(4));
  write("t10k-images-idx3-ubyte", idx_images(2));
  EXPECT_NE(message().find("no t10k-labels-idx1-ubyte beside it"), std::string::npos);
  const test::Folder other;
  const std::string record(3073, '\0');
  other.write("data_batch_1.bin", record);
  other.write("data_batch_3.bin", record);
  try {
    read_dataset(other.path(), {});
    FAIL() << "took the batches before the gap";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("data_batch_2.bin: not there, but data_batch_3.bin"),
              std::string::npos);
  }
}

TEST_F(Data, FingerprintsTellImagesLabelsAndPartsApart) {
  add_class("a", 4, 1);
  add_class("b", 4, 2);
  const Dataset data = read_dataset(folder_.path(), {});
  EXPECT_EQ(fingerprint(read_dataset(folder_.path(), {})), fingerprint(data));
  Dataset other = data;
  std::swap(other.labels[0], other.labels[1]);
  EXPECT_NE(fingerprint(other), fingerprint(data));
  other = data;
  ++other.train[0].image.pixels.back();
  EXPECT_NE(fingerprint(other), fingerprint(data));
  other = data;
  std::swap(other.train[0], other.validation[0]);
  other.train[0].label = 1 - other.train[0].label;
  EXPECT_NE(fingerprint(other), fingerprint(data));
}

TEST_F(Data, ReadsIdxFilesZippedOrNot) {
  write_gzipped("train-images-idx3-ubyte.gz", idx_images(4));
  write_gzipped("train-labels-idx1-ubyte.gz", idx_labels(4));
  write("t10k-images-idx3-ubyte", idx_images(2));
  write("t10k-labels-idx1-ubyte", idx_labels(2));
  const Dataset data = read_dataset(folder_.path(), {});
  ASSERT_EQ(data.train.size(), 4u);
  EXPECT_EQ(data.validation.size(), 2u);
  EXPECT_EQ(data.labels, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(data.train[1].label, 1u);
  EXPECT_EQ(data.train[1].image.width, 3u);
  EXPECT_EQ(data.train[1].image.pixels[0], 6);
  EXPECT_EQ(data.train[1].image.pixels[2], 6);
  EXPECT_EQ(data.train[1].image.pixels[3], 7);
}

TEST_F(Data, IdxLabelsNeedNotBeginAtZeroAndNamesMayHaveAPoint) {
  write("train-images.idx3-ubyte", idx_images(4));
  write("train-labels.idx1-ubyte", {0, 0, 8, 1, 0, 0, 0, 4, 1, 7, 1, 7});
  write("t10k-images.idx3-ubyte", idx_images(1));
  write("t10k-labels.idx1-ubyte", {0, 0, 8, 1, 0, 0, 0, 1, 7});
  const Dataset data = read_dataset(folder_.path(), {});
  EXPECT_EQ(data.labels, (std::vector<std::string>{"1", "7"}));
  ASSERT_EQ(data.train.size(), 4u);
  EXPECT_EQ(data.train[1].label, 1u);
  EXPECT_EQ(data.validation.at(0).label, 1u);
  write("t10k-labels.idx1-ubyte", {0, 0, 8, 1, 0, 0, 0, 1, 0});
  EXPECT_NE(message().find("test label 0 is none of the 2 training labels"), std::string::npos);
}

TEST_F(Data, KeepsNoMoreOfAClassThanAskedForWhateverTheFormat) {
  std::vector<std::uint8_t> records;
  for (std::uint8_t i = 0; i < 20; ++i) {
    records.push_back(i % 10);
    records.insert(records.end(), 3072, i);
  }
  write("data_batch_1.bin", records);
  write("test_batch.bin", records);
  DatasetOptions options;
  options.most_per_class = 1;
  const Dataset dataset = read_dataset(folder_.path(), options);
  EXPECT_EQ(dataset.train.size(), 10u);
  EXPECT_EQ(dataset.validation.size(), 20u) << "a validation part is not cut";
  EXPECT_EQ(dataset.train.back().image.pixels[0], 9) << "the first of each";
}

TEST_F(Data, IdxFilesThatDisagreeAreRefused) {
  write("train-images-idx3-ubyte", idx_images(4));
  write("train-labels-idx1-ubyte", idx_labels(3));
  EXPECT_NE(message().find("3 labels for 4 images"), std::string::npos);
  write("train-labels-idx1-ubyte", {0, 0, 9, 1});
  EXPECT_NE(message().find("is no IDX file"), std::string::npos);
  auto cut = idx_labels(4);
  cut.pop_back();
  write("train-labels-idx1-ubyte", cut);
  EXPECT_NE(message().find("holds 3 numbers, its header says 4"), std::string::npos);
}

TEST_F(Data, ReadsCifarBinaries) {
  std::vector<std::uint8_t> bytes;
  for (std::uint8_t label = 0; label < 10; ++label) {
    bytes.push_back(label);
    for (int c = 0; c < 3; ++c) bytes.insert(bytes.end(), 1024, static_cast<std::uint8_t>(10 * c));
  }
  write("data_batch_1.bin", bytes);
  write("test_batch.bin", bytes);
  const Dataset data = read_dataset(folder_.path(), {});
  ASSERT_EQ(data.train.size(), 10u);
  EXPECT_EQ(data.labels[3], "cat");
  EXPECT_EQ(data.train[3].label, 3u);
  EXPECT_EQ(data.train[0].image.pixels[1], 10);
  bytes.pop_back();
  write("test_batch.bin", bytes);
  EXPECT_NE(message().find("expected a multiple of 3073"), std::string::npos);
}

TEST_F(Data, ReadsCifar100ByItsFineLabels) {
  std::vector<std::uint8_t> bytes;
  for (std::uint8_t label = 0; label < 3; ++label) {
    bytes.insert(bytes.end(), {9, label});
    bytes.insert(bytes.end(), 3072, label);
  }
  write("train.bin", bytes);
  write("test.bin", bytes);
  folder_.write("fine_label_names.txt", "apple\naquarium_fish\nbaby\n");
  const Dataset data = read_dataset(folder_.path(), {});
  EXPECT_EQ(data.labels, (std::vector<std::string>{"apple", "aquarium_fish", "baby"}));
  ASSERT_EQ(data.train.size(), 3u);
  EXPECT_EQ(data.train[2].label, 2u);
  EXPECT_EQ(data.train[2].image.pixels.front(), 2);
  EXPECT_EQ(data.validation.size(), 3u);
  bytes.pop_back();
  write("test.bin", bytes);
  EXPECT_NE(message().find("expected a multiple of 3074"), std::string::npos);
}

TEST_F(Data, MeasuresItsColours) {
  add_class("a", 4, 0);
  add_class("b", 4, 255);
  Recipe recipe;
  measure_statistics(read_dataset(folder_.path(), {}), recipe);
  EXPECT_FLOAT_EQ(recipe.mean[0], 0.5f);
  EXPECT_FLOAT_EQ(recipe.std[2], 0.5f);
}

}  // namespace
}  // namespace vit::data
