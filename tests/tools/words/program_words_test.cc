/// Classes in words, through the program: the original programs' probabilities in every command.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "tests/support/golden.h"
#include "tests/tools/words/words_call.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> joined(std::vector<std::string> first,
                                const std::vector<std::string>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

class WordCases : public Words, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    if (!has(GetParam())) GTEST_SKIP() << "needs ../shared/goldens/text";
  }
  std::vector<std::string> all_images() const {
    std::vector<std::string> images;
    for (size_t i = 0; i < prompts["images"].size(); ++i) images.push_back(image(i));
    return images;
  }
};

TEST_P(WordCases, ClassifyGivesTheReferencesProbabilities) {
  const Finished finished =
      on_model("classify", joined(joined(words(), {"--json", "-k", "100"}), all_images()));
  ASSERT_EQ(finished.status, 0) << finished.err;
  const auto found = answers(finished);
  const auto expected = test::read_golden(test::text_case(GetParam()) / "expected.safetensors")
                            .at("class_probabilities");
  ASSERT_EQ(found.size(), expected.shape[0]);
  const size_t classes = expected.shape[1];
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].size(), classes);
    for (size_t c = 0; c < classes; ++c)
      EXPECT_NEAR(found[i][prompts["labels"][c].get<std::string>()].get<float>(),
                  expected.values[i * classes + c], 1e-5f)
          << "image " << i << ", " << prompts["labels"][c];
  }
}

TEST_P(WordCases, AFileWithTheWordsInItGivesEqualAnswers) {
  const std::string baked = folder.path("baked.safetensors");
  const Finished converted = on_model("convert", joined(words(), {baked}));
  ASSERT_EQ(converted.status, 0) << converted.err;
  const std::vector<std::string> more = joined({"--json", "--logits", "-k", "100"}, all_images());
  const Finished direct = on_model("classify", joined(words(), more));
  fs::remove_all(folder.path("home"));
  const Finished alone = vit(joined({"classify", "-m", baked}, more));
  ASSERT_EQ(alone.status, 0) << alone.err;
  EXPECT_EQ(json::parse(alone.out)["images"], json::parse(direct.out)["images"]);
  const Finished again = vit(joined({"classify", "-m", baked, "--labels", "a cat"}, more));
  EXPECT_EQ(again.status, 1);
  EXPECT_THAT(again.err, HasSubstr("this model has no text tower"));
}

/// A row of the reference's features of length 1, as text and image features are compared.
std::vector<double> feature(const test::GoldenTensor& tensor, size_t row) {
  const size_t width = tensor.shape.back();
  const auto first = tensor.values.begin() + static_cast<std::ptrdiff_t>(row * width);
  return {first, first + static_cast<std::ptrdiff_t>(width)};
}

double cosine(const std::vector<double>& a, const std::vector<double>& b) {
  const auto dot = [](const auto& x, const auto& y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
  };
  return dot(a, b) / std::sqrt(dot(a, a) * dot(b, b));
}

TEST_P(WordCases, SearchRanksImagesByTheReferencesCosines) {
  const std::string index = folder.path("photos.index");
  const Finished indexed =
      on_model("index", joined(all_images(), {"-q", "--threads", "1", "-o", index}));
  ASSERT_EQ(indexed.status, 0) << indexed.err;
  std::vector<std::string> texts;
  std::vector<size_t> numbers;  // of the reference's prompts; an empty one cannot be searched for
  for (size_t i = 0; i < prompts["prompts"].size(); ++i)
    if (const auto text = prompts["prompts"][i].get<std::string>(); !text.empty()) {
      texts.push_back(text);
      numbers.push_back(i);
    }
  std::vector<std::string> arguments{"search", index, "--json", "-q"};
  arguments.insert(arguments.end(), texts.begin(), texts.end());
  for (const auto& more : {"+", texts[1].c_str(), "-", texts[2].c_str()})
    arguments.emplace_back(more);
  const Finished finished = vit(arguments);
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json queries = json::parse(finished.out)["queries"];
  ASSERT_EQ(queries.size(), texts.size());

  const auto golden = test::read_golden(test::text_case(GetParam()) / "expected.safetensors");
  const auto& of_texts = golden.at("text.features_normalized");
  const auto& of_images = golden.at("image.features_normalized");
  for (size_t t = 0; t < texts.size(); ++t) {
    std::vector<double> wanted = feature(of_texts, numbers[t]);
    if (t + 1 == texts.size()) {  // the sum of three
      const auto added = feature(of_texts, 1), taken = feature(of_texts, 2);
      for (size_t i = 0; i < wanted.size(); ++i) wanted[i] += added[i] - taken[i];
    }
    double last = 1.0;
    for (const json& hit : queries[t]["results"]) {
      const std::string name = fs::path(hit["path"].get<std::string>()).filename().string();
      SCOPED_TRACE(queries[t]["query"].get<std::string>() + ", " + name);
      const auto& names = prompts["images"];
      const auto at = std::ranges::find(names, json(name));
      ASSERT_NE(at, names.end());
      const auto number = static_cast<size_t>(at - names.begin());
      EXPECT_NEAR(hit["score"].get<double>(), cosine(wanted, feature(of_images, number)), 1e-5);
      EXPECT_LE(hit["score"].get<double>(), last);
      last = hit["score"].get<double>();
    }
    EXPECT_EQ(queries[t]["results"].size(), prompts["images"].size());
  }
}

std::string name_of(const testing::TestParamInfo<const char*>& info) {
  return info.param;
}
INSTANTIATE_TEST_SUITE_P(Cases, WordCases, testing::ValuesIn(test::kTextCases), name_of);

/// The case that is part of the repository.
class WordModel : public Words {
 protected:
  void SetUp() override { ASSERT_TRUE(has("hf_siglip")); }
};

TEST_F(WordModel, BakedFilesRunInEveryCommand) {
  const std::string baked = folder.path("baked.safetensors");
  ASSERT_EQ(on_model("convert", joined(words(), {baked})).status, 0);
  for (const std::string label : {"tench", "fire truck"}) {
    fs::create_directories(folder.path("data/" + label));
    fs::copy_file(image(0), folder.path("data/" + label + "/a.png"));
  }
  const auto expect_runs = [&](const std::string& command, std::vector<std::string> more) {
    const Finished finished = vit(joined({command, "-m", baked}, more));
    EXPECT_EQ(finished.status, 0) << command << ": " << finished.err;
  };
  expect_runs("batch", {folder.path("data"), "-q", "-o", folder.path("rows.csv")});
  expect_runs("eval", {folder.path("data"), "-q", "-o", folder.path("report")});
  expect_runs("attention", {image(0), "-o", folder.path("map.png"), "--class", "fire truck"});
  expect_runs("attention", {image(0), "-o", folder.path("map.html")});
  expect_runs("heads", {"--images", image(0), "-q", "-o", folder.path("heads.csv")});
  expect_runs("embed", {folder.path("data"), "-q", "-o", folder.path("features.npy")});
  expect_runs("index", {folder.path("data"), "-q", "-o", folder.path("photos.index")});
  EXPECT_THAT(vit({"info", "-m", baked}).out,
              AllOf(HasSubstr("fire truck"), HasSubstr("scaled to length 1"),
                    HasSubstr("each scored on its own")));
}

TEST_F(WordModel, EveryCommandTakesLabels) {
  fs::create_directories(folder.path("data/tench"));
  fs::copy_file(image(0), folder.path("data/tench/a.png"));
  const auto expect_runs = [&](const std::string& command, std::vector<std::string> more) {
    const Finished finished = on_model(command, joined(more, words()));
    EXPECT_EQ(finished.status, 0) << command << ": " << finished.err;
  };
  const std::string rows = folder.path("rows.csv");
  expect_runs("batch", {folder.path("data"), "-q", "-o", rows});
  EXPECT_THAT(read_file(rows), HasSubstr("label_1"));
  expect_runs("eval", {folder.path("data"), "-q", "-o", folder.path("report")});
  expect_runs("attention", {image(0), "-o", folder.path("map.png")});
  expect_runs("heads", {"--images", image(0), "-q", "-o", folder.path("heads.csv")});

  const Finished other =
      on_model("batch", {folder.path("data"), "-q", "-o", rows, "--labels", "tench,a dog"});
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err, HasSubstr("words_sha256"));
}

TEST_F(WordModel, ShowsWhereWordsAreInTheImage) {
  const std::string out = folder.path("map.json");
  const Finished finished = on_model(
      "attention", {image(0), "-o", out, "--class", "a red car", "--class", "a tree, tall"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const std::string text = read_file(out);
  EXPECT_THAT(text, AllOf(HasSubstr("\"a red car\""), HasSubstr("\"a tree, tall\"")));

  const std::string page = folder.path("map.html");
  ASSERT_EQ(on_model("attention", {image(0), "-o", page, "--class", "a red car", "--class",
                                   "a tree, tall", "--template", "plain"})
                .status,
            0);
  EXPECT_THAT(read_file(page), AllOf(HasSubstr("\"compare\":true"), HasSubstr("a tree, tall")));
}

TEST_F(WordModel, OfTheEnvironmentIsNamedWhereItHasNoClasses) {
  Call call;
  call.arguments = {"classify", image(0)};
  call.environment = {"VIT_MODEL=" + model};
  EXPECT_THAT(run(call).err,
              testing::StartsWith("vit: " + model + ": this model has no classes of its own"));
}

TEST_F(WordModel, WithoutWordsItHasNoClasses) {
  const Finished finished = on_model("classify", {image(0)});
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.err, "vit: " + model +
                              ": this model has no classes of its own; name them in words: "
                              "--labels \"a cat,a dog\" or --labels @FILE\n");
  EXPECT_EQ(on_model("attention", {image(0), "-o", folder.path("a.png")}).status, 0);
  const Finished relevance =
      on_model("attention", {image(0), "-o", folder.path("b.png"), "--method", "relevance"});
  EXPECT_EQ(relevance.status, 1);
  EXPECT_THAT(relevance.err, HasSubstr("name one in words: --class \"a red car\""));
}

TEST_F(WordModel, UsesTheUsualSentenceOfItsFamily) {
  const std::vector<std::string> rest{"--json", "-k", "9", image(0)};
  const auto with = [&](std::vector<std::string> options) {
    return answers(on_model("classify", joined(options, rest)));
  };
  EXPECT_EQ(with({"--labels", "cat, a dog"}),
            with({"--labels", "cat,a dog", "--template", "This is a photo of {}."}));
  const std::string own =
      file("own.txt", "cat\tThis is a photo of cat.\na dog\tThis is a photo of a dog.\r\n");
  EXPECT_EQ(with({"--labels", "cat, a dog"}), with({"--labels", "@" + own}));
  EXPECT_NE(with({"--labels", "cat, a dog"}),
            with({"--labels", "cat, a dog", "--template", "openai-7"}));
}

TEST_F(WordModel, AddsAClassForImagesOfNoLabel) {
  const auto none = [&](const std::string& threshold) {
    const Finished finished = on_model(
        "classify",
        joined(words(), {"--none-of-these=" + threshold, "--json", "-k", "100", image(0)}));
    EXPECT_EQ(finished.status, 0) << finished.err;
    return json::parse(finished.out)["images"][0]["predictions"];
  };
  const json low = none("0.000001"), high = none("0.999999");
  EXPECT_EQ(high[0]["label"], "none of these");
  EXPECT_NEAR(high[0]["probability"].get<double>(), 0.999999, 1e-5);
  EXPECT_NE(low[0]["label"], "none of these");
  EXPECT_EQ(low.size(), prompts["labels"].size() + 1);
}

TEST_F(WordModel, KeepsRowsForTheNextTime) {
  const auto arguments = joined(words(), {"--json", "-k", "100", image(0)});
  const Finished first = on_model("classify", arguments);
  const fs::path cache = folder.path("home/words");
  ASSERT_TRUE(fs::exists(cache));
  EXPECT_EQ(std::distance(fs::directory_iterator(cache), fs::directory_iterator()), 1);
  EXPECT_EQ(on_model("classify", arguments).out, first.out);
  EXPECT_EQ(std::distance(fs::directory_iterator(cache), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace vit::tools
