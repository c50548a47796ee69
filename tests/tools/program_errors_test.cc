#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/tools/subprocess.h"

namespace vit::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kHint = "vit: see 'vit classify --help'\n";

Finished classify(const std::string& model, std::vector<std::string> more) {
  std::vector<std::string> arguments{"classify", "-m", model};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

void expect_usage_error(const std::vector<std::string>& more, const std::string& message) {
  const Finished finished = classify(golden("timm_vit"), more);
  EXPECT_EQ(finished.status, 2) << message;
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(finished.err, "vit: " + message + "\n" + kHint);
}

/// One bad image: status 1, no result, and a message that opens with its name.
void expect_bad_image(const std::string& path, const std::string& part) {
  const Finished finished = classify(golden("timm_vit"), {path});
  EXPECT_EQ(finished.status, 1) << path;
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err, AllOf(StartsWith("vit: " + path + ": "), HasSubstr(part)));
}

TEST(ClassifyUsage, SuggestsTheOptionThatWasMeant) {
  expect_usage_error({"--jsn", "a.png"}, "unknown option '--jsn', did you mean '--json'?");
  expect_usage_error({"-json", "a.png"}, "unknown option '-json', did you mean '--json'?");
  expect_usage_error({"--quantize"}, "unknown option '--quantize'");
  expect_usage_error({"a.png", "--top"}, "option '--top' needs a value");
}

TEST(ClassifyUsage, TakesTheModelThatTheEnvironmentNames) {
  const std::string image = golden_image("hf_vit");
  Call call;
  call.arguments = {"classify", image};
  call.environment = {"VIT_MODEL=" + golden("hf_vit")};
  const Finished chosen = run(call);
  EXPECT_EQ(chosen.status, 0) << chosen.err;
  EXPECT_EQ(chosen.out, run({"classify", "-m", golden("hf_vit"), image}).out);
  call.environment = {"VIT_MODEL=nowhere/model"};
  const Finished missing = run(call);
  EXPECT_EQ(missing.status, 1);
  EXPECT_EQ(missing.err,
            "vit: nowhere/model: no such file or folder, and not pulled; if the hub has it: vit "
            "pull nowhere/model (the variable VIT_MODEL names this model)\n");
}

TEST(ClassifyUsage, SaysThatAnImageIsMissing) {
  expect_usage_error({},
                     "no image given, expected one or more files, or - for one on standard input");
  expect_usage_error({"-", "-"}, "'-' given 2 times, but there is one standard input");
}

TEST(ClassifyUsage, SaysGotAndExpectedOfEveryValue) {
  const std::string image = golden_image("timm_vit");
  expect_usage_error({"-k", "0", image},
                     "option '--top' got '0', expected a whole number from 1 to 1000000");
  expect_usage_error({"-k", "-1", image},
                     "option '--top' got '-1', expected a whole number from 1 to 1000000");
  expect_usage_error({"--top=five", image},
                     "option '--top' got 'five', expected a whole number from 1 to 1000000");
  expect_usage_error({"--threads", "0", image},
                     "option '--threads' got '0', expected a whole number from 1 to 1024");
  expect_usage_error({"--heads", "x", image},
                     "option '--heads' got 'x', expected a whole number from 1 to 1024");
  expect_usage_error({"--temperature", "0", image},
                     "option '--temperature' got '0', expected a number above 0");
  expect_usage_error({"--exif", "maybe", image},
                     "option '--exif' got 'maybe', expected apply or ignore");
  expect_usage_error({"--positions", "cubic", image},
                     "option '--positions' got 'cubic', expected bilinear, bilinear-align-corners, "
                     "bicubic, bicubic-antialias or bilinear-antialias");
  expect_usage_error({"--image-size", "big", image},
                     "option '--image-size' got 'big', expected N or HEIGHTxWIDTH in pixels, 1 to "
                     "16384 each, such as 224 or 224x320");
}

TEST(ClassifyUsage, NamesTheNearestImageSizesThatFitThePatches) {
  const Finished finished =
      classify(golden("timm_vit"), {"--image-size", "17", golden_image("timm_vit")});
  EXPECT_EQ(finished.status, 2) << finished.err;
  EXPECT_THAT(finished.err, AllOf(StartsWith("vit: "), HasSubstr("17"), HasSubstr("16"),
                                  HasSubstr("32"), HasSubstr(kHint)));
  EXPECT_EQ(finished.out, "");
}

TEST(ClassifyModel, SaysWhatIsWrongWithIt) {
  const Folder folder;
  const std::string image = golden_image("timm_vit");
  const std::string text_file = folder.write("notes.safetensors", "just some notes\n");
  const std::string empty_file = folder.write("empty.safetensors", "");
  for (const auto& model : {folder.path("nowhere"), text_file, empty_file, folder.path()}) {
    const Finished finished = classify(model, {image});
    EXPECT_EQ(finished.status, 1) << model;
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, StartsWith("vit: " + model)) << model;
  }
}

TEST(ClassifyModel, IsRefusedWhenItHasNoClassifier) {
  const std::string model = golden("timm_dinov2_registers");
  const Finished finished = classify(model, {golden_image("timm_dinov2_registers")});
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, AllOf(StartsWith("vit: " + model), HasSubstr("has no classifier")));
}

TEST(ClassifyImage, SaysWhatIsWrongWithIt) {
  const Folder folder;
  const std::string picture = read_file(golden_image("timm_vit"));
  expect_bad_image(folder.path("nowhere.png"), "");
  expect_bad_image(folder.write("empty.png", ""), "empty");
  expect_bad_image(folder.write("text.jpg", "this is not a picture\n"), "");
  expect_bad_image(folder.write("cut.png", picture.substr(0, picture.size() / 2)), "");
  expect_bad_image(folder.write("header.png", picture.substr(0, 20)), "");
  expect_bad_image(folder.write("cut.jpg", "\xff\xd8\xff\xe0" + std::string(16, '\0')), "");
  std::string garbage;
  for (unsigned i = 0, state = 1; i < 10000; ++i, state = state * 1664525u + 1013904223u)
    garbage += static_cast<char>(state >> 24);
  expect_bad_image(folder.write("garbage.png", garbage), "");
}

TEST(ClassifyImage, IsNotAFolder) {
  const Folder folder;
  expect_bad_image(
      folder.path(),
      "is a folder, expected an image; vit batch takes folders, or give its files, such as " +
          folder.path() + "/*.jpg");
}

TEST(ClassifyImage, OnStandardInputIsNamedSo) {
  Call call;
  call.arguments = {"classify", "-m", golden("timm_vit"), "-"};
  const Finished empty = run(call);
  EXPECT_EQ(empty.status, 1);
  EXPECT_THAT(empty.err, StartsWith("vit: standard input: "));
}

TEST(ClassifyImage, ThatIsBadLeavesTheOthersToRun) {
  const Folder folder;
  const std::string good = golden_image("timm_vit");
  const std::string bad = folder.write("bad.jpg", "no picture");
  const Finished text = classify(golden("timm_vit"), {bad, good, bad, good});
  EXPECT_EQ(text.status, 1);
  EXPECT_EQ(text.out.find(good), 0u);
  EXPECT_NE(text.out.rfind("\n" + good + "\n"), std::string::npos);
  EXPECT_THAT(text.err, HasSubstr(bad));

  const Finished json = classify(golden("timm_vit"), {"--json", bad, good});
  EXPECT_EQ(json.status, 1);
  EXPECT_EQ(json.err, "");
  const auto images = nlohmann::json::parse(json.out)["images"];
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(images[0]["file"], bad);
  EXPECT_THAT(images[0]["error"].get<std::string>(), Not(HasSubstr(bad)));
  EXPECT_FALSE(images[0].contains("predictions"));
  EXPECT_EQ(images[1]["predictions"].size(), 5u);
}

TEST(ClassifyImage, CannotDriveTheTerminalThroughItsName) {
  const Folder folder;
  const Finished finished = classify(golden("timm_vit"), {folder.path("\x1b[31m\n.png")});
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, HasSubstr("\\x1b[31m\\n.png: "));
  EXPECT_THAT(finished.err, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace vit::tools
