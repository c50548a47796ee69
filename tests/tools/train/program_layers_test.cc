// Probes that read several layers, and every command on the model file that they make.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/subprocess.h"
#include "tests/tools/train/train_call.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSaysLayers = "classifier reads the last 3 layers";

/// A model of three layers and a class token, and a probe of it that reads all of them.
class ManyLayers : public ::testing::Test {
 protected:
  ManyLayers() {
    write_pictures(folder_.path("data"), 12);
    succeed({"train",        folder_.path("data"),
             "-o",           base_,
             "--image-size", "16",
             "--patch",      "4",
             "--width",      "16",
             "--depth",      "3",
             "--heads",      "2",
             "--pool",       "class",
             "--batch",      "16",
             "--epochs",     "1",
             "--warmup",     "0"});
    succeed({"train", folder_.path("data"), "-o", model_, "--from", base_, "--probe-layers", "3"});
  }

  static std::string succeed(const std::vector<std::string>& arguments) {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.status, 0) << arguments.front() << ": " << finished.err;
    return finished.out;
  }
  std::string picture(const char* name = "red/0.png") const {
    return folder_.path(std::string("data/") + name);
  }

  Folder folder_;
  std::string base_ = folder_.path("base.safetensors");
  std::string model_ = folder_.path("layers.safetensors");
};

TEST_F(ManyLayers, AreInTheFileAndStayThereInEveryFormat) {
  EXPECT_THAT(succeed({"info", model_}), HasSubstr(kSaysLayers));
  EXPECT_THAT(succeed({"info", model_, "--json"}), HasSubstr("\"pooled_layers\": 3"));
  EXPECT_THAT(succeed({"info", base_}), Not(HasSubstr("classifier reads")));
  EXPECT_THAT(read_file(base_), Not(HasSubstr("pooled_layers"))) << "earlier versions read it";
  EXPECT_THAT(read_file(model_), HasSubstr("\\\"pooled_layers\\\":3"));
  const std::string answer = succeed({"classify", "-m", model_, "-k", "1", picture()});
  EXPECT_THAT(answer, HasSubstr("red"));
  for (const char* type : {"f32", "f16", "bf16", "int8"}) {
    const std::string other = folder_.path(std::string(type) + ".safetensors");
    succeed({"convert", "-m", model_, "--dtype", type, other});
    EXPECT_THAT(succeed({"info", other}), HasSubstr(kSaysLayers)) << type;
    EXPECT_THAT(succeed({"classify", "-m", other, "-k", "1", picture()}), HasSubstr("red"));
  }
  EXPECT_EQ(read_file(folder_.path("f32.safetensors")).size(), read_file(model_).size());
}

TEST_F(ManyLayers, AnswerEveryCommand) {
  const std::string rows = folder_.path("rows.csv"), vectors = folder_.path("rows.jsonl");
  succeed({"batch", "-m", model_, "-q", folder_.path("data"), "-o", rows});
  EXPECT_THAT(read_file(rows), HasSubstr("red/11.png"));
  EXPECT_THAT(succeed({"eval", "-m", model_, folder_.path("data")}), HasSubstr("top-1"));
  succeed({"embed", "-m", model_, "-q", "--features", "pooled", picture(), "-o", vectors});
  const std::string row = read_file(vectors);
  const auto numbers = std::count(row.begin(), row.end(), ',');
  EXPECT_GT(numbers, 3 * 16 - 1) << "of three layers: " << row;
  for (const std::string output : {"relevance.png", "numbers.json", "page.html"})
    succeed({"attention", "-m", model_, picture(), "-o", folder_.path(output)});
  succeed({"attention", "-m", model_, "--method", "rollout", picture(), "-o",
           folder_.path("rollout.png")});
  succeed({"attention", "-m", model_, "--layer", "1", picture(), "-o", folder_.path("map.png")});
  EXPECT_THAT(succeed({"heads", "-m", model_, "--images", folder_.path("data/red")}),
              HasSubstr("2:1"));
  succeed({"classify", "-m", model_, "--merge-tokens", "3", picture()});
  succeed({"classify", "-m", model_, "--disable-heads", "0:1", picture()});
  succeed({"classify", "-m", model_, "--image-size", "32", picture()});
}

TEST_F(ManyLayers, AreKeptByFurtherTraining) {
  const std::string next = folder_.path("next.safetensors");
  const std::vector<std::string> ways[] = {
      {"--finetune", "--epochs", "1"}, {"--lora", "2", "--epochs", "1"}, {"--probe"}};
  for (const auto& way : ways) {
    std::vector<std::string> call{"train", folder_.path("data"), "-o", next, "--from",
                                  model_,  "--restart"};
    call.insert(call.end(), way.begin(), way.end());
    succeed(call);
    EXPECT_THAT(succeed({"info", next}), HasSubstr(kSaysLayers)) << way.front();
  }
  succeed({"train", folder_.path("data"), "-o", next, "--from", model_, "--restart",
           "--probe-layers", "1", "--folds", "3"});
  EXPECT_THAT(succeed({"info", next}), Not(HasSubstr("classifier reads")));
}

TEST_F(ManyLayers, WrongNumbersOfThemAreRefused) {
  const auto refused = [&](const std::vector<std::string>& more, int status) {
    std::vector<std::string> call{"train", folder_.path("data"), "-o",
                                  folder_.path("none.safetensors")};
    call.insert(call.end(), more.begin(), more.end());
    const Finished finished = run(call);
    EXPECT_EQ(finished.status, status) << finished.out;
    EXPECT_FALSE(fs::exists(folder_.path("none.safetensors")));
    return finished.err;
  };
  EXPECT_THAT(refused({"--from", base_, "--probe-layers", "4"}, 1),
              HasSubstr("cannot read the last 4 layers, the model has 3; choose 1 to 3"));
  EXPECT_THAT(refused({"--from", base_, "--probe-layers", "0"}, 2), HasSubstr("--probe-layers"));
  EXPECT_THAT(refused({"--probe-layers", "2"}, 2), HasSubstr("--from MODEL"));
  EXPECT_THAT(refused({"--from", base_, "--probe-layers", "2", "--finetune"}, 2),
              HasSubstr("train the probe first and start from its model file"));
}

/// "… accuracy 91.67 % …" after `from`; empty: there is none.
std::string percent_after(const std::string& text, const std::string& from) {
  const size_t at = text.find(from);
  if (at == text.npos) return "";
  const size_t begin = text.find_first_of("0123456789", at + from.size());
  return text.substr(begin, text.find('%', begin) - begin);
}

TEST(ClassTokenAndMean, SideBySideAreInTheFileAndRightAsOftenAsTheRunSays) {
  const Folder folder;
  write_pictures(folder.path("data/train"), 12);
  write_pictures(folder.path("data/val"), 4);
  const std::string model = folder.path("m.safetensors");
  // Too short for all answers to be right.
  const Finished trained =
      run(train(folder, {"--pool", "class-and-mean", "--epochs", "2", "--lr", "0.0003"}));
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_THAT(run({"info", model}).out, HasSubstr("class-and-mean pooling"));
  EXPECT_THAT(run({"info", model, "--json"}).out, HasSubstr("\"pooling\": \"class-and-mean\""));
  const std::string said = percent_after(trained.out, "best validation accuracy");
  EXPECT_NE(said, "");
  EXPECT_EQ(percent_after(run({"eval", "-m", model, folder.path("data/val")}).out, "top-1"), said);
}

}  // namespace
}  // namespace vit::tools
