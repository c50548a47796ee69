#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "tests/support/golden.h"
#include "tests/support/paths.h"
#include "tests/tools/subprocess.h"

namespace vit::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

/// `vit classify -m GOLDEN` with more arguments.
Finished classify(const std::string& model, std::vector<std::string> more) {
  std::vector<std::string> arguments{"classify", "-m", golden(model)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    lines.push_back(text.substr(at, text.find('\n', at) - at));
  return lines;
}

TEST(Classify, NamesTheClassesOfAnImageForPeople) {
  const std::string image = golden_image("hf_vit");
  const Finished finished = classify("hf_vit", {"-k", "3", image});
  EXPECT_EQ(finished.status, 0);
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(lines_of(finished.out), ElementsAre(image, MatchesRegex("  1  .* +[0-9.]+ %.*"),
                                                  MatchesRegex("  2  .* +[0-9.]+ %.*"),
                                                  MatchesRegex("  3  .* +[0-9.]+ %.*")));
}

/// How often files of a folder are opened during an action.
size_t opened_in(const std::string& folder, const std::function<void()>& action) {
  const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  EXPECT_GE(inotify_add_watch(watch, folder.c_str(), IN_OPEN), 0);
  action();
  size_t opened = 0;
  alignas(inotify_event) std::array<char, 4096> events;
  for (ssize_t size; (size = read(watch, events.data(), events.size())) > 0;)
    for (ssize_t at = 0; at < size; ++opened)
      at += static_cast<ssize_t>(sizeof(inotify_event)) +
            reinterpret_cast<const inotify_event*>(&events[static_cast<size_t>(at)])->len;
  close(watch);
  return opened;
}

TEST(Classify, RunsEachImageOnAGridOfItsOwnAspectRatioWithOneCopyOfTheModel) {
  const Folder folder;
  const std::string model = folder.path("model"), image = golden_image("families/naflex_map");
  std::filesystem::copy(golden("families/naflex_map"), model);
  Finished fixed, own;
  const auto classify_as = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"classify", "-m", model, "--json", "--logits", image, image});
    return run(more);
  };
  const size_t once = opened_in(model, [&] { fixed = classify_as({}); });
  EXPECT_GT(once, 0u);
  EXPECT_EQ(opened_in(model, [&] { own = classify_as({"--max-patches", "24"}); }), once);
  ASSERT_EQ(own.status, 0) << own.err;
  EXPECT_NE(own.out, fixed.out);
  const auto want =
      test::read_golden(golden("families/naflex_map") + "/expected_sequence_24.safetensors")
          .at("logits")
          .values;
  const auto images = nlohmann::json::parse(own.out)["images"];
  ASSERT_EQ(images[0]["logits"].size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(images[0]["logits"][i].get<float>(), want[i], 1e-4f);
  EXPECT_EQ(images[0]["logits"], images[1]["logits"]);
}

TEST(Classify, NamesTheModelOfTheEnvironmentThatHasNoClasses) {
  Call call;
  const std::string model = golden("timm_dinov2_registers");
  call.environment = {"VIT_MODEL=" + model};
  for (const char* command : {"classify", "eval"}) {
    call.arguments = {command, golden_image("timm_dinov2_registers")};
    const Finished finished = run(call);
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, StartsWith("vit: " + model +
                                         ": vit_small_patch14_reg4_dinov2 has no classifier, its "
                                         "output is "))
        << command;
  }
}

TEST(Classify, GivesTheReferenceLogitsInJson) {
  for (const auto* model : {"timm_vit", "hf_vit", "timm_deit_distilled", "timm_siglip_map"}) {
    const Finished finished = classify(model, {"--json", "--logits", golden_image(model)});
    ASSERT_EQ(finished.status, 0) << finished.err;
    const auto expected = test::read_golden(golden(model) + "/expected.safetensors").at("logits");
    const auto logits = nlohmann::json::parse(finished.out)["images"][0]["logits"];
    ASSERT_EQ(logits.size(), expected.values.size());
    float largest = 0.0f;
    for (const float value : expected.values) largest = std::max(largest, std::abs(value));
    for (size_t i = 0; i < logits.size(); ++i)
      EXPECT_NEAR(logits[i].get<float>(), expected.values[i], 1e-5f * largest) << model;
  }
}

TEST(Classify, WritesOneJsonDocumentInAFixedOrder) {
  const std::string image = golden_image("timm_vit");
  const Finished finished = classify("timm_vit", {"--json", "-k", "2", image, image});
  EXPECT_EQ(finished.status, 0);
  const auto json = nlohmann::ordered_json::parse(finished.out);
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_THAT(keys, ElementsAre("model", "recipe", "images"));
  EXPECT_EQ(json["recipe"]["crop_height"], 64);
  ASSERT_EQ(json["images"].size(), 2u);
  EXPECT_EQ(json["images"][0], json["images"][1]);
  EXPECT_EQ(json["images"][0]["file"], image);
  EXPECT_FALSE(json["images"][0].contains("logits"));
  ASSERT_EQ(json["images"][0]["predictions"].size(), 2u);
  EXPECT_GE(json["images"][0]["predictions"][0]["probability"],
            json["images"][0]["predictions"][1]["probability"]);
}

TEST(Classify, ShowsAllClassesWhenAskedForMore) {
  const Finished finished = classify("timm_vit", {"-k", "100", golden_image("timm_vit")});
  EXPECT_EQ(finished.status, 0);
  EXPECT_EQ(lines_of(finished.out).size(), 1u + 10u);
}

TEST(Classify, ReadsAnImageFromStandardInput) {
  Call call;
  call.arguments = {"classify", "-m", golden("timm_vit"), "--json", "-"};
  call.input = read_file(golden_image("timm_vit"));
  const Finished finished = run(call);
  ASSERT_EQ(finished.status, 0) << finished.err;
  const auto image = nlohmann::json::parse(finished.out)["images"][0];
  const auto same = classify("timm_vit", {"--json", golden_image("timm_vit")});
  EXPECT_EQ(image["file"], "-");
  EXPECT_EQ(image["predictions"], nlohmann::json::parse(same.out)["images"][0]["predictions"]);
}

TEST(Classify, GivesTheSameAnswerOnAnyNumberOfThreadsAndInAnyBatch) {
  const std::string image = golden_image("timm_vit");
  const std::vector<std::string> many(40, image);  // several batches
  std::vector<std::string> arguments{"--json", "--logits", "--threads", "3"};
  arguments.insert(arguments.end(), many.begin(), many.end());
  const auto together = nlohmann::json::parse(classify("timm_vit", arguments).out)["images"];
  const auto alone = nlohmann::json::parse(
      classify("timm_vit", {"--json", "--logits", "--threads", "1", image}).out)["images"][0];
  ASSERT_EQ(together.size(), many.size());
  for (const auto& one : together) EXPECT_EQ(one, alone);
}

TEST(Classify, RunsAtAnotherImageSizeWithPositionsResampled) {
  std::string previous;
  for (const auto* way : {"bilinear", "bilinear_align_corners", "bicubic", "bicubic_antialias"}) {
    std::string option = way;
    std::ranges::replace(option, '_', '-');
    const Finished finished =
        classify("position_bilinear", {"--json", "--logits", "--image-size", "128x96",
                                       "--positions", option, golden_image("position_bilinear")});
    ASSERT_EQ(finished.status, 0) << finished.err;
    const auto json = nlohmann::json::parse(finished.out);
    EXPECT_EQ(json["recipe"]["crop_height"], 128);
    EXPECT_EQ(json["recipe"]["crop_width"], 96);
    EXPECT_NE(json["images"].dump(), previous) << way;
    previous = json["images"].dump();
  }
}

TEST(Classify, SharpensTheAnswerAtALowTemperature) {
  const auto best_at = [](const std::string& temperature) {
    const Finished finished =
        classify("timm_vit", {"--json", "--temperature", temperature, golden_image("timm_vit")});
    return nlohmann::json::parse(finished.out)["images"][0]["predictions"][0]["probability"]
        .get<float>();
  };
  EXPECT_GT(best_at("0.5"), best_at("1"));
  EXPECT_GT(best_at("1"), best_at("2"));
}

std::vector<float> logits_with(const std::string& model, std::vector<std::string> more) {
  more.insert(more.end(), {"--json", "--logits", golden_image(model)});
  const Finished finished = classify(model, more);
  EXPECT_EQ(finished.status, 0) << finished.err;
  if (finished.status != 0) return {};
  return nlohmann::json::parse(finished.out)["images"][0]["logits"].get<std::vector<float>>();
}

TEST(Classify, RunsInLessPrecisionAndWithFewerTokensWhenAsked) {
  const auto exact = logits_with("timm_vit", {});
  EXPECT_EQ(logits_with("timm_vit", {"--precision", "f32", "--merge-tokens", "0"}), exact);
  std::vector<std::vector<float>> others{logits_with("timm_vit", {"--precision", "int8"}),
                                         logits_with("timm_vit", {"--merge-tokens", "2"})};
  EXPECT_NE(others[0], others[1]);
  for (const auto& other : others) {
    ASSERT_EQ(other.size(), exact.size());
    EXPECT_NE(other, exact);
    // The tiny random models are more sensitive than trained ones; another answer altogether would
    // be off by the whole range.
    const auto [low, high] = std::ranges::minmax(exact);
    double squares = 0.0;
    for (size_t i = 0; i < exact.size(); ++i) squares += std::pow(other[i] - exact[i], 2);
    EXPECT_LT(std::sqrt(squares / static_cast<double>(exact.size())), 0.2 * (high - low));
  }
}

TEST(Classify, SaysWhatPrecisionAndMergeExpect) {
  const Finished precision = classify("timm_vit", {"--precision", "int4", "a.png"});
  EXPECT_EQ(precision.status, 2);
  EXPECT_THAT(precision.err, HasSubstr("option '--precision' got 'int4', expected f32 or int8\n"));
  const Finished merge = classify("timm_vit", {"--merge-tokens", "many", "a.png"});
  EXPECT_EQ(merge.status, 2);
  EXPECT_THAT(merge.err, HasSubstr("option '--merge-tokens' got 'many', expected a whole number"));
  const Finished most = classify("timm_vit", {"--merge-tokens", "8", golden_image("timm_vit")});
  EXPECT_EQ(most.status, 1);
  EXPECT_THAT(most.err, HasSubstr("merging 8 tokens after each of 2 layers needs more than 16 "
                                  "patches, the model has 16; at most 7 can be merged\n"));
}

TEST(Classify, CallsTheAnswersOfAMultiLabelModelScores) {
  const Folder folder;
  auto config = test::read_json(golden("hf_vit") + "/config.json");
  config["problem_type"] = "multi_label_classification";
  folder.write("config.json", config.dump());
  for (const auto* name : {"preprocessor_config.json", "model.safetensors"})
    folder.write(name, read_file(golden("hf_vit") + "/" + name));
  const Finished finished = run({"classify", "-m", folder.path(), golden_image("hf_vit")});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("scores"));
}

TEST(Classify, TakesFileNamesOfAnyBytes) {
  const Folder folder;
  const std::string picture = read_file(golden_image("timm_vit"));
  for (const auto& [name, as_text, as_json] : std::vector<std::array<std::string, 3>>{
           {"two\nlines.png", "two\\nlines.png", "two\nlines.png"},
           {"猫, \"cat\".png", "猫, \"cat\".png", "猫, \"cat\".png"},
           {"caf\xe9.png", "caf\\xe9.png", "caf\xef\xbf\xbd.png"}}) {
    const std::string path = folder.write(name, picture);
    const Finished text = classify("timm_vit", {path});
    EXPECT_EQ(text.status, 0) << text.err;
    EXPECT_THAT(text.out, StartsWith(folder.path(as_text) + "\n"));
    const Finished json = classify("timm_vit", {"--json", path});
    const auto image = nlohmann::json::parse(json.out)["images"][0];
    EXPECT_EQ(image["file"], folder.path(as_json));
    EXPECT_EQ(image.contains("file_hex"), as_json != name) << "only where the name is lost";
    EXPECT_THAT(image.value("file_hex", std::string("636166e92e706e67")),
                testing::EndsWith("636166e92e706e67"));
  }
}

TEST(Classify, HasNoColoursInAFile) {
  EXPECT_THAT(classify("timm_vit", {golden_image("timm_vit")}).out,
              testing::Not(HasSubstr("\x1b")));
}

TEST(Classify, EndsQuietlyWhenTheReaderClosesThePipe) {
  Call call;
  call.arguments = {"classify", "-m", golden("timm_vit"), golden_image("timm_vit")};
  call.output_closed = true;
  const Finished killed = run(call);
  EXPECT_EQ(killed.status, 128 + 13);  // SIGPIPE
  EXPECT_EQ(killed.err, "");
  call.ignore_broken_pipe = true;
  const Finished ended = run(call);
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.err, "");
}

TEST(Classify, SaysThatTheResultsCannotBeWritten) {
  Call call;
  call.arguments = {"classify", "-m", golden("timm_vit"), golden_image("timm_vit")};
  call.output_to = "/dev/full";
  const Finished finished = run(call);
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.err, "vit: cannot write the results: No space left on device\n");
}

TEST(Classify, DoesNotReportAFailedOutputAsAnErrorOfAnImage) {
  const std::string image = golden_image("timm_vit");
  Call call;
  // Room for one image: each answer is written while the next image is read.
  call.arguments = {"classify", "-m", golden("timm_vit"), "--max-pixels", "10k", image,
                    image,      image};
  call.output_to = "/dev/full";
  const Finished finished = run(call);
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.err, "vit: cannot write the results: No space left on device\n");
}

/// A JPEG whose data ends in the middle.
std::string half_a_jpeg() {
  std::string jpeg = read_file(test::source_dir() / "tools/pictures/grid.jpg");
  jpeg.resize(jpeg.size() / 4 * 3);
  while (jpeg.back() == '\xff') jpeg.pop_back();
  return jpeg + "\xff\xd9";
}

TEST(Classify, AnswersADamagedFileAndSaysSo) {
  const Folder folder;
  const std::string file = folder.write("half.jpg", half_a_jpeg());
  const Finished finished = classify("timm_vit", {"--json", file});
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.err,
              MatchesRegex("vit: .*/half.jpg: damaged: the data ends after [0-9]+ % of the rows, "
                           "the rest is grey\n"));
  const auto image = nlohmann::json::parse(finished.out)["images"][0];
  EXPECT_THAT(image["damaged"].get<std::string>(), StartsWith("the data ends after "));
  EXPECT_EQ(image["predictions"].size(), 5u);
}

TEST(Classify, RefusesImagesBeyondTheLimitAndAnswersTheOthersOneAfterTheOther) {
  const std::string image = golden_image("timm_vit");
  const Finished all = classify("timm_vit", {"--json", image, image, image});
  const Finished tight =
      classify("timm_vit", {"--json", "--max-pixels", "10k", image, image, image});
  EXPECT_EQ(tight.status, 0) << tight.err;
  EXPECT_EQ(tight.out, all.out);
  const Finished finished = classify("timm_vit", {"--max-pixels", "10", image});
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, HasSubstr("pixels, the limit is 10; raise max_pixels or make "
                                      "the image smaller\n"));
  const Finished wrong = classify("timm_vit", {"--max-pixels", "0M", image});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("option '--max-pixels' got '0M', expected a number of pixels "
                                   "such as 1000000, 800k, 500M or 2G"));
}

TEST(Classify, RefusesDevicesAtOnceWithAReason) {
  const std::string start =
      ": not a JPEG, PNG, WebP, BMP, TIFF, GIF, HEIC or AVIF image: it starts with the bytes "
      "00 00 00 00 00 00 00 00\n";
  const Finished zeros = classify("timm_vit", {"/dev/zero"});
  EXPECT_EQ(zeros.status, 1);
  EXPECT_EQ(zeros.err, "vit: /dev/zero" + start);
  const std::string long_name(300, 'x');
  const Finished finished = classify("timm_vit", {long_name});
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.err, "vit: " + long_name + ": cannot open: File name too long\n");
}

}  // namespace
}  // namespace vit::tools
