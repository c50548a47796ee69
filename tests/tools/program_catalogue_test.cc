// `vit models`: the list that helps to choose a model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/tools/subprocess.h"

namespace vit::tools {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// `vit models` with an empty cache.
Finished models(std::vector<std::string> arguments) {
  const Folder home;
  Call call;
  call.arguments = std::move(arguments);
  call.arguments.insert(call.arguments.begin(), "models");
  call.environment = {"VIT_HOME=" + home.path()};
  return run(call);
}

std::vector<json> rows(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  return json::parse(models(arguments).out)["models"];
}

std::vector<std::string> names(const std::vector<std::string>& arguments) {
  std::vector<std::string> result;
  for (const auto& row : rows(arguments)) result.push_back(row["name"]);
  return result;
}

TEST(Models, ListsTheCatalogue) {
  EXPECT_EQ(models({"deit_tiny_patch16"}).out,
            "name                           top-1   GMACs  parameters  input  output          "
            "repository [downloaded size]\n"
            "deit_tiny_patch16_224.fb_in1k   72.2    1.25       5.7 M    224  1000 classes    "
            "timm/deit_tiny_patch16_224.fb_in1k\n"
            "\n"
            "small     deit_tiny_patch16_224.fb_in1k: 72.2 % top-1, 1.25 GMACs, 5.7 M parameters; "
            "the most accurate of at most 5 GMACs\n");
  const Finished none = models({"resnet"});
  EXPECT_EQ(none.status, 1);
  EXPECT_EQ(none.err, "vit: no model has 'resnet' in its name\n");
}

TEST(Models, CallsTheOutputOfClipAnEmbeddingAndNotClasses) {
  const std::string text = models({"vit_base_patch16_clip_224"}).out;
  EXPECT_THAT(text, AllOf(HasSubstr("  embedding 512 "), HasSubstr("  1000 classes ")));
  EXPECT_THAT(text, Not(HasSubstr("512 classes")));
  EXPECT_THAT(models({"dino-vits16"}).out, HasSubstr("  features 384 "));
}

TEST(Models, MeetAllConditions) {
  const auto found =
      rows({"--max-gmacs", "7", "--max-params", "30", "--min-top1", "80", "--sort", "name"});
  EXPECT_GE(found.size(), 4u);
  for (const auto& row : found) {
    EXPECT_LE(row["multiply_adds"].get<double>(), 7e9) << row;
    EXPECT_LE(row["parameters"].get<double>(), 30e6) << row;
    EXPECT_GE(row["top1"].get<double>(), 80.0) << row;
  }
  EXPECT_THAT(names({"--family", "deit3", "--max-gmacs", "5"}), Each(HasSubstr("deit3_small")));
  const Finished none = models({"--family", "dinov2", "--max-gmacs", "0.1"});
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, HasSubstr("vit: no model meets all conditions; without them there are "));
}

TEST(Models, AreSortedByWhatIsAskedFor) {
  const auto sorted = [](const char* key, const char* field, bool descending) {
    std::vector<double> values;
    for (const auto& row : rows({"--sort", key, "--min-top1", "1"})) values.push_back(row[field]);
    EXPECT_GE(values.size(), 39u);
    if (descending) std::ranges::reverse(values);
    EXPECT_TRUE(std::ranges::is_sorted(values)) << key;
  };
  sorted("top1", "top1", true);
  sorted("gmacs", "multiply_adds", false);
  sorted("params", "parameters", false);
  const auto by_name = names({});
  EXPECT_TRUE(std::ranges::is_sorted(by_name));
  // Those without a figure come last and stay in the list.
  const auto by_accuracy = rows({"--sort", "top1"});
  EXPECT_EQ(by_accuracy.size(), by_name.size());
  EXPECT_FALSE(by_accuracy.front()["top1"].is_null());
  EXPECT_TRUE(by_accuracy.back()["top1"].is_null());
}

TEST(Models, RecommendTheMostAccurateWithinEachLimit) {
  const json answer = json::parse(models({"--json"}).out);
  const auto best_below = [&](double gmacs) {
    json best;
    for (const auto& row : answer["models"])
      if (!row["top1"].is_null() && row["multiply_adds"].get<double>() <= gmacs * 1e9 &&
          (best.is_null() || row["top1"] > best["top1"]))
        best = row;
    return best["name"];
  };
  EXPECT_EQ(answer["recommended"]["small"], best_below(5));
  EXPECT_EQ(answer["recommended"]["balanced"], best_below(20));
  EXPECT_EQ(answer["recommended"]["best"], best_below(1e9));
  const std::string text = models({}).out;
  for (const auto* line : {"\nsmall     ", "\nbalanced  ", "\nbest      "})
    EXPECT_THAT(text, HasSubstr(line));
  // Of models without a published figure none is the most accurate.
  EXPECT_THAT(json::parse(models({"--family", "dinov2", "--json"}).out)["recommended"], IsEmpty());
}

TEST(Models, SayGotAndExpected) {
  const Finished family = models({"--family", "resnet"});
  EXPECT_EQ(family.status, 2);
  EXPECT_THAT(family.err, HasSubstr("option '--family' got 'resnet', expected aimv2, "));
  EXPECT_THAT(models({"--sort", "speed"}).err,
              HasSubstr("option '--sort' got 'speed', expected name, top1, gmacs or params\n"));
  const Finished number = models({"--max-gmacs", "-3"});
  EXPECT_EQ(number.status, 2);
  EXPECT_THAT(number.err, HasSubstr("option '--max-gmacs' got '-3', expected a number above 0\n"));
}

TEST(Models, GivesJson) {
  const Folder home;
  Call call;
  call.arguments = {"models", "--json", "google/vit"};
  call.environment = {"VIT_HOME=" + home.path()};
  const json answer = json::parse(run(call).out);
  EXPECT_EQ(answer["cache"], home.path());
  EXPECT_EQ(answer["models"][0]["name"], "vit-base-patch16-224");
  EXPECT_EQ(answer["models"][0]["hub"], "google/vit-base-patch16-224");
  EXPECT_EQ(answer["models"][0]["family"], "vit");
  EXPECT_EQ(answer["models"][0]["parameters"], 86567656);
  EXPECT_EQ(answer["models"][0]["classes"], 1000);
  EXPECT_TRUE(answer["models"][0]["top1"].is_null());
  EXPECT_TRUE(answer["models"][0]["pulled"].is_null());
  EXPECT_THAT(rows({"--pulled"}), SizeIs(0));
  call.arguments = {"models", "--pulled"};
  const Finished none = run(call);
  EXPECT_EQ(none.status, 0);
  EXPECT_EQ(none.out, "");
  EXPECT_THAT(none.err, HasSubstr("no model is pulled into " + home.path()));
}

}  // namespace
}  // namespace vit::tools
