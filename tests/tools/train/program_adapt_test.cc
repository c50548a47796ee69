// Probes, fine-tuning and adapters as a user runs them, and the messages of vit train about
// doubtful data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <sstream>
#include <thread>

#include <opencv2/imgcodecs.hpp>

#include "tests/support/random_checkpoint.h"
#include "tests/support/small_config.h"
#include "tests/tools/subprocess.h"
#include "tests/tools/train/train_call.h"
#include "weights/save.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

/// A model of two classes, so that the three of the data need a new classifier.
class Adapted : public ::testing::Test {
 protected:
  Adapted() {
    write_pictures(folder_.path("old"), 16);
    fs::remove_all(folder_.path("old/red"));
    std::vector<std::string> call = train(folder_, {"--restart", "--epochs", "4"});
    call[1] = folder_.path("old");
    call[3] = folder_.path("base.safetensors");
    const Finished finished = run(call);
    EXPECT_EQ(finished.status, 0) << finished.err;
    write_pictures(folder_.path("data"), 20);
  }

  std::vector<std::string> call(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"train",  folder_.path("data"),
                                       "-o",     folder_.path("m.safetensors"),
                                       "--from", folder_.path("base.safetensors")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  Folder folder_;
};

TEST_F(Adapted, FinetuningStartsFromAProbeAndUsesEveryImage) {
  const Finished finished = run(call({"--finetune", "--epochs", "2", "--lr", "0.0001"}));
  ASSERT_EQ(finished.status, 0) << finished.err;
  const std::string log = read_file(folder_.path("m.safetensors.csv"));
  // With a random classifier a third would be right in the first epoch of such small steps.
  EXPECT_THAT(finished.out, HasSubstr("best validation accuracy 100.00 %"));
  EXPECT_THAT(read_file(folder_.path("m.safetensors")), HasSubstr("batch=8 "))
      << "54 images: chosen by their number";
  EXPECT_THAT(finished.out, HasSubstr("m.safetensors on the validation images of"))
      << "the report names the file";
  const Finished random = run(call({"--finetune", "--epochs", "1", "--lr", "0.00000001",
                                    "--head-start", "random", "--restart"}));
  EXPECT_EQ(random.status, 0) << random.err;
  EXPECT_THAT(random.out, Not(HasSubstr("best validation accuracy 100.00 %")));
}

TEST_F(Adapted, AnImageSizeOfTooManyTokensIsRefused) {
  for (const char* how : {"--probe", "--finetune"}) {
    const Finished finished = run(call({how, "--image-size", "1024"}));
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(finished.err, "vit: " + folder_.path("base.safetensors") +
                                ": an input of 1024x1024 pixels in patches of 4x4 gives 65536 "
                                "tokens, at most 32768 are allowed; choose a smaller input size or "
                                "allow more tokens\n");
  }
}

TEST_F(Adapted, KeepsAClassifierOfTheSameClasses) {
  ASSERT_EQ(run(call({})).status, 0);  // a probe that knows the classes of the data
  fs::rename(folder_.path("m.safetensors"), folder_.path("probe.safetensors"));
  const auto keep = [&](const std::string& from) {
    return run(call({"--from", from, "--finetune", "--epochs", "1", "--lr", "0.00000001",
                     "--head-start", "keep", "--restart"}));
  };
  const Finished kept = keep(folder_.path("probe.safetensors"));
  EXPECT_EQ(kept.status, 0) << kept.err;
  EXPECT_THAT(kept.out, HasSubstr("best validation accuracy 100.00 %"));
  EXPECT_THAT(read_file(folder_.path("m.safetensors")), HasSubstr(" head-start=keep"));

  const Finished other = keep(folder_.path("base.safetensors"));
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err, HasSubstr("base.safetensors: has a classifier of "));
  EXPECT_THAT(other.err, HasSubstr("expected the 3 of the data; start from a probe instead"));
  fs::rename(folder_.path("data/red"), folder_.path("data/crimson"));
  EXPECT_THAT(
      keep(folder_.path("probe.safetensors")).err,
      HasSubstr("probe.safetensors: class 1 is 'green', expected 'crimson' as in the data"));
}

TEST_F(Adapted, AdaptersEndAsAnOrdinaryModel) {
  const Finished finished = run(call({"--lora", "2", "--epochs", "3"}));
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("best validation accuracy 100.00 %"));
  const Finished info = run({"info", folder_.path("m.safetensors")});
  EXPECT_EQ(info.status, 0) << info.err;
  EXPECT_THAT(info.out, HasSubstr("blue, green, red"));
  EXPECT_THAT(read_file(folder_.path("m.safetensors")), HasSubstr(" lora=2 "));
  EXPECT_EQ(
      run({"classify", "-m", folder_.path("m.safetensors"), folder_.path("data/red/0.png")}).status,
      0);
}

TEST_F(Adapted, AStoppedRunOfAdaptersContinuesOnOtherThreadsAsIfItHadNot) {
  const std::vector<std::string> how{"--lora",  "2", "--epochs",      "12",
                                     "--batch", "4", "--tensorboard", "--threads"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = how;
    all.insert(all.end(), more.begin(), more.end());
    return call(all);
  };
  ASSERT_EQ(run(with({"1"})).status, 0);
  const std::string whole = read_file(folder_.path("m.safetensors"));
  Call stopped;
  stopped.arguments = with({"1", "--restart"});
  fs::remove(folder_.path("m.safetensors.csv"));
  Running running(stopped);
  while (!fs::exists(folder_.path("m.safetensors.csv")))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  running.send(SIGINT);
  const Finished ended = running.wait();
  if (ended.status == 0) GTEST_SKIP() << "it was faster than the signal";
  ASSERT_EQ(ended.status, 128 + SIGINT) << ended.err;
  const Finished resumed = run(with({"2", "--resume"}));
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(read_file(folder_.path("m.safetensors")), whole);
}

TEST_F(Adapted, AProbeIsCrossValidatedInFolds) {
  const Finished finished = run(call({"--folds", "4"}));
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out,
              HasSubstr("cross-validation in 4 parts: accuracy 100.00 % (100.00 % to 100.00 %) of "
                        "60 images; the model is fitted to all of them"));
  EXPECT_FALSE(fs::exists(folder_.path("m.safetensors.eval")))
      << "no image is left that it was not fitted to";
}

/// The first matrix of a model's blocks: its number format and its numbers.
std::pair<weights::DType, std::vector<float>> matrix_of(const std::string& file) {
  const weights::Checkpoint checkpoint = weights::open(file);
  const weights::Weight& weight = checkpoint.at("blocks.0.attn.qkv.weight");
  std::vector<float> numbers(weight.size());
  weight.read_rows(0, weight.rows(), numbers.data());
  return {weight.parts().front().dtype, std::move(numbers)};
}

TEST_F(Adapted, AProbeKeepsTheNumberFormatOfTheModel) {
  for (const char* type : {"f32", "f16", "bf16", "int8"}) {
    const std::string base = folder_.path(std::string(type) + ".safetensors");
    ASSERT_EQ(
        run({"convert", "-m", folder_.path("base.safetensors"), "--dtype", type, base}).status, 0);
    const Finished finished = run(call({"--from", base, "--restart"}));
    ASSERT_EQ(finished.status, 0) << type << ": " << finished.err;
    const std::string model = folder_.path("m.safetensors");
    EXPECT_EQ(matrix_of(model), matrix_of(base)) << type;
    EXPECT_THAT(run({"classify", "-k", "1", "-m", model, folder_.path("data/green/0.png")}).out,
                HasSubstr("green"))
        << type;
  }
}

TEST_F(Adapted, AProbeOfAnotherImageSizeIsThatModelAtThisSize) {
  const Finished finished = run(call({"--image-size", "24"}));
  ASSERT_EQ(finished.status, 0) << finished.err;
  const std::string model = folder_.path("m.safetensors");
  EXPECT_THAT(run({"info", model}).out, HasSubstr("24x24"));
  EXPECT_THAT(run({"classify", "-k", "1", "-m", model, folder_.path("data/red/0.png")}).out,
              HasSubstr("red"));
  const Finished further = run(call(
      {"--from", model, "-o", folder_.path("next.safetensors"), "--finetune", "--epochs", "1"}));
  EXPECT_EQ(further.status, 0) << further.err;
}

TEST(ProbeOf, AModelWithoutABackwardPassIsFitted) {
  const Folder folder;
  write_pictures(folder.path("data"), 6);
  ModelConfig config = test::small_config(
      {.patch = 4, .width = 32, .depth = 2, .heads = 2, .mlp_width = 32, .classes = 5});
  config.encoder.attention = AttentionKind::kDifferential;
  weights::save(folder.path("base.safetensors"), test::random_checkpoint(config));
  const std::vector<std::string> call{"train",  folder.path("data"),
                                      "-o",     folder.path("m.safetensors"),
                                      "--from", folder.path("base.safetensors")};
  const Finished finished = run(call);
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(classified(folder, "data/red/0.png"), HasSubstr("red"));
}

TEST_F(Adapted, OptionsThatWouldDoNothingAreRefused) {
  const auto message = [&](const std::vector<std::string>& more) {
    const Finished finished = run(call(more));
    EXPECT_EQ(finished.status, 2) << finished.out;
    return finished.err;
  };
  EXPECT_THAT(message({"--lora", "2", "--layer-decay", "0.5"}),
              HasSubstr("option '--layer-decay' has no effect on --lora"));
  EXPECT_THAT(message({"--lora", "0"}), HasSubstr("--lora"));
  EXPECT_THAT(message({"--finetune", "--folds", "3"}), HasSubstr("'--folds' is for a probe"));
  EXPECT_THAT(message({"--balance", "sampling"}), HasSubstr("expected weights or none"));
  EXPECT_THAT(message({"--head-start", "probe"}), HasSubstr("'--head-start'"));
  EXPECT_THAT(message({"--patience", "3"}), HasSubstr("has no effect on a probe"));
  EXPECT_THAT(message({"--probe", "--lora", "2"}), HasSubstr("exclude each other"));
}

TEST_F(Adapted, SaysThatClassesAreUnevenAndImagesContradict) {
  for (int i = 3; i < 20; ++i) fs::remove(folder_.path("data/red/" + std::to_string(i) + ".png"));
  fs::copy_file(folder_.path("data/blue/1.png"), folder_.path("data/green/copy.png"));
  const Finished finished = run(call({}));
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("uneven classes: 'red' has 2 training images, '"));
  EXPECT_THAT(finished.err, HasSubstr("--balance makes all count the same"));
  EXPECT_THAT(finished.err, HasSubstr("the same image in two classes: "));
  EXPECT_THAT(finished.err, HasSubstr("blue/1.png in 'blue'"));
  EXPECT_THAT(finished.err, HasSubstr("green/copy.png in 'green'"));
  const Finished balanced = run(call({"--balance", "weights", "--restart"}));
  EXPECT_EQ(balanced.status, 0) << balanced.err;
  EXPECT_THAT(balanced.err, Not(HasSubstr("--balance")));
}

TEST_F(Adapted, SaysThatValidationImagesAreTrainingImages) {
  fs::create_directories(folder_.path("both"));
  fs::rename(folder_.path("data"), folder_.path("both/train"));
  write_pictures(folder_.path("both/val"), 2);
  auto arguments = call({});
  arguments[1] = folder_.path("both");
  const Finished finished = run(arguments);
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("among the training images"));
}

TEST_F(Adapted, StopsEarly) {
  const Finished finished =
      run(call({"--finetune", "--epochs", "50", "--lr", "0.00000001", "--patience", "2"}));
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("stopped early: no better validation accuracy in 2 epochs"));
  EXPECT_THAT(finished.out, Not(HasSubstr("epoch 50/50")));
  const Finished again = run(
      call({"--finetune", "--epochs", "50", "--lr", "0.00000001", "--patience", "2", "--resume"}));
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.out, Not(HasSubstr("images/s"))) << "it stays stopped";
}

TEST_F(Adapted, ShowsWhatAugmentationMakesOfImages) {
  const Finished finished = run(call({"--finetune", "--preview", folder_.path("sheet.png")}));
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("nothing was trained"));
  const cv::Mat sheet = cv::imread(folder_.path("sheet.png"));
  EXPECT_EQ(sheet.cols, 6 * (16 + 6) + 6);
  EXPECT_EQ(sheet.rows, 8 * (16 + 6) + 6);
  // The first image is of the first class, which is blue.
  const auto pixel = sheet.at<cv::Vec3b>(6 + 8, 6 + 8);
  EXPECT_GT(pixel[0], pixel[2]);
  EXPECT_FALSE(fs::exists(folder_.path("m.safetensors")));
}

TEST_F(Adapted, FindsALearningRate) {
  const Finished finished = run(call({"--finetune", "--head-start", "random", "--find-rate"}));
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("suggested: --lr "));
  EXPECT_FALSE(fs::exists(folder_.path("m.safetensors")));
  EXPECT_FALSE(fs::exists(folder_.path("m.safetensors.checkpoint")));
}

/// Reads event files as their format says, with nothing of the writer: records, checksums bit by
/// bit, and the fields of the messages.
class EventReader {
 public:
  explicit EventReader(std::string bytes) : bytes_(std::move(bytes)) {}

  struct Scalar {
    std::uint64_t step;
    std::string tag;
    float value;
  };

  std::vector<Scalar> read() {
    for (size_t at = 0; at < bytes_.size();) {
      const auto length = number<std::uint64_t>(bytes_, at);
      EXPECT_EQ(number<std::uint32_t>(bytes_, at + 8), masked(bytes_.substr(at, 8)));
      const std::string message = bytes_.substr(at + 12, length);
      EXPECT_EQ(message.size(), length);
      EXPECT_EQ(number<std::uint32_t>(bytes_, at + 12 + length), masked(message));
      read_event(message);
      at += 16 + length;
    }
    return scalars_;
  }
  std::string version;
  std::vector<double> times;

 private:
  template <typename T>
  static T number(const std::string& bytes, size_t at) {
    T value{};
    if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
  }
  static std::uint32_t masked(const std::string& bytes) {
    std::uint32_t crc = 0xffffffff;
    for (const char byte : bytes)
      for (int bit = 0; bit < 8; ++bit) {
        const std::uint32_t in = static_cast<unsigned char>(byte) >> bit & 1;
        crc = (crc & 1) != in ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
      }
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xa282ead8;
  }
  static std::uint64_t varint(const std::string& bytes, size_t& at) {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes.at(at++));
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
  }
  /// Calls use(field number, bytes of the content, value of a varint).
  template <typename Use>
  static void fields(const std::string& bytes, Use use) {
    for (size_t at = 0; at < bytes.size();) {
      const std::uint64_t key = varint(bytes, at);
      const int number = static_cast<int>(key >> 3), wire = static_cast<int>(key & 7);
      if (wire == 0) {
        use(number, std::string(), varint(bytes, at));
        continue;
      }
      const size_t size = wire == 1 ? 8 : wire == 5 ? 4 : varint(bytes, at);
      use(number, bytes.substr(at, size), std::uint64_t{0});
      at += size;
    }
  }
  void read_event(const std::string& message) {
    std::uint64_t step = 0;
    std::string summary;
    fields(message, [&](int number_of, const std::string& content, std::uint64_t value) {
      if (number_of == 1) times.push_back(number<double>(content, 0));
      if (number_of == 2) step = value;
      if (number_of == 3) version = content;
      if (number_of == 5) summary = content;
    });
    fields(summary, [&](int, const std::string& value_message, std::uint64_t) {
      Scalar scalar{step, {}, 0.0f};
      fields(value_message, [&](int number_of, const std::string& content, std::uint64_t) {
        if (number_of == 1) scalar.tag = content;
        if (number_of == 2) scalar.value = number<float>(content, 0);
      });
      scalars_.push_back(scalar);
    });
  }

  std::string bytes_;
  std::vector<Scalar> scalars_;
};

TEST_F(Adapted, WritesTheLogForTensorBoard) {
  ASSERT_EQ(run(call({"--finetune", "--epochs", "3", "--tensorboard"})).status, 0);
  EventReader reader(read_file(folder_.path("m.safetensors.tensorboard/events.out.tfevents.vit")));
  const auto scalars = reader.read();
  EXPECT_EQ(reader.version, "brain.Event:2");
  ASSERT_EQ(scalars.size(), 3u * 6u);
  EXPECT_EQ(scalars.front().step, 1u);
  EXPECT_EQ(scalars.back().step, 3u);
  EXPECT_TRUE(std::is_sorted(reader.times.begin(), reader.times.end()));
  std::istringstream log(read_file(folder_.path("m.safetensors.csv")));
  std::string line;
  std::getline(log, line);
  for (size_t epoch = 0; epoch < 3; ++epoch) {
    std::getline(log, line);
    const float loss = std::stof(line.substr(line.find(',') + 1));
    EXPECT_EQ(scalars[6 * epoch].tag, "loss/training");
    EXPECT_NEAR(scalars[6 * epoch].value, loss, 1e-4 * loss);
  }
}

}  // namespace
}  // namespace vit::tools
