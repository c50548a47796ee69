#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "patch/image/image.h"
#include "tests/support/golden.h"
#include "tests/support/paths.h"
#include "tests/tools/subprocess.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

Finished attention(const std::string& model, std::vector<std::string> more) {
  std::vector<std::string> arguments{"attention", "-m", golden(model)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

nlohmann::json map_of(const std::string& model, std::vector<std::string> more) {
  const Folder folder;
  more.insert(more.end(), {"-o", folder.path("map.json"), golden_image(model)});
  const Finished finished = attention(model, more);
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  return finished.status == 0 ? nlohmann::json::parse(read_file(folder.path("map.json")))
                              : nlohmann::json();
}

TEST(Attention, GivesTheReferenceRowsOfEveryKindOfToken) {
  const auto expected = test::read_golden(golden("timm_deit_distilled") + "/expected.safetensors");
  const auto& weights = expected.at("attention.1");
  const size_t tokens = weights.shape[1];
  for (const auto& [query, row] :
       {std::pair{"cls", size_t{0}}, {"distillation", size_t{1}}, {"0,1", size_t{3}}}) {
    const auto json = map_of("timm_deit_distilled", {"--query", query, "--head", "2"});
    const auto& map = json["maps"][0];
    EXPECT_EQ(map["layer"], "layer 1");
    const float* want = &weights.values[(2 * tokens + row) * tokens];
    EXPECT_NEAR(map["prefix"]["cls"].get<float>(), want[0], 1e-5);
    EXPECT_NEAR(map["prefix"]["distillation"].get<float>(), want[1], 1e-5);
    const size_t cols = json["grid"]["cols"];
    for (size_t i = 2; i < tokens; ++i)
      EXPECT_NEAR(map["patches"][(i - 2) / cols][(i - 2) % cols].get<float>(), want[i], 1e-5);
  }
}

/// CaiT's class token, which its blocks never see: the mean over its class layers.
TEST(Attention, ShowsTheClassAttentionOfClassLayers) {
  const std::string model = "families/cait";
  const auto expected = test::read_golden(golden(model) + "/expected.safetensors");
  const auto& first = expected.at("class_attention.0").values;
  const auto& second = expected.at("class_attention.1").values;
  for (const std::string query : {"cls", "pool"}) {
    const auto json = map_of(model, {"--query", query, "--head", "3"});
    const auto& map = json["maps"][0];
    for (size_t i = 0; i < 16; ++i) {
      const size_t at = 3 * 17 + 1 + i;
      EXPECT_NEAR(map["patches"][i / 4][i % 4].get<float>(), (first[at] + second[at]) / 2.0f, 1e-5);
    }
  }
  const auto relevance = map_of(model, {"--method", "relevance"});
  EXPECT_THAT(relevance["maps"][0]["layer"].get<std::string>(), HasSubstr("relevance"));
}

TEST(Attention, SaysHowMuchThePrefixKeeps) {
  const Folder folder;
  for (const auto& [model, text] :
       {std::pair{"timm_vit", ", cls keeps "}, {"timm_deit_distilled", ", prefix tokens keep "}}) {
    const std::string output = folder.path(std::string(model) + ".svg");
    ASSERT_EQ(attention(model, {"--layer", "0", "-o", output, golden_image(model)}).status, 0);
    EXPECT_THAT(read_file(output), testing::ContainsRegex(std::string(text) + "[0-9]+ %"));
  }
}

TEST(Attention, RefusesMatricesThatNoMachineShouldHold) {
  const Folder folder;
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"attention", "-m", golden("hf_vit"), golden_image("hf_vit"), "-o",
                                 folder.path("a.png")},
        {"heads", golden("hf_vit"), "--images", golden_image("hf_vit")}}) {
    std::vector<std::string> words = command;
    words.insert(words.end(), {"--image-size", "4096", "--max-tokens", "2000000"});
    const Finished refused = run(words);
    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.err, testing::HasSubstr(": its attention at this image size has "));
    EXPECT_THAT(refused.err,
                testing::HasSubstr(" GB; the limit is 4.3 GB; choose a smaller --image-size"));
  }
}

TEST(Attention, TakesAnImageOnStandardInput) {
  const Folder folder;
  const std::string image = golden_image("timm_vit");
  Call call;
  call.arguments = {"attention", "-m", golden("timm_vit"), "-", "-o", folder.path("a.npy")};
  call.input = read_file(image);
  const Finished finished = run(call);
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(attention("timm_vit", {image, "-o", folder.path("b.npy")}).status, 0);
  EXPECT_EQ(read_file(folder.path("a.npy")), read_file(folder.path("b.npy")));
  call.arguments = {"attention", "-m", golden("timm_vit"),    "-",
                    image,       "-o", folder.path("two.png")};
  EXPECT_EQ(run(call).status, 0);
  EXPECT_TRUE(fs::exists(folder.path("two-standard-input.png")));
  EXPECT_THAT(attention("timm_vit", {"-", "-", "-o", folder.path("x.png")}).err,
              HasSubstr("'-' given 2 times, but there is one standard input"));
}

TEST(Attention, DrawsAPictureOfEveryKindForEveryKindOfModel) {
  const Folder folder;
  for (const auto* model : {"timm_vit", "timm_nonsquare", "timm_siglip_map", "timm_gap_registers",
                            "timm_dinov2_registers", "timm_deit_distilled"})
    for (const std::vector<std::string>& how : {std::vector<std::string>{},
                                                {"--grid"},
                                                {"--matrix"},
                                                {"--matrix", "--head", "all"},
                                                {"--method", "rollout", "--discard", "0.3"},
                                                {"--threshold", "0.5"},
                                                {"--positions-similarity"},
                                                {"--filters"}}) {
      const bool of_model = !how.empty() && (how[0].starts_with("--pos") || how[0] == "--filters");
      std::vector<std::string> arguments = how;
      const std::string out = folder.path("picture.png");
      arguments.insert(arguments.end(), {"-o", out});
      if (!of_model) arguments.push_back(golden_image(model));
      const Finished finished = attention(model, arguments);
      ASSERT_EQ(finished.status, 0) << model << " " << finished.err;
      const patch::Image picture = patch::read_image(out);
      EXPECT_GT(picture.width, 300u);
      EXPECT_GT(picture.height, 100u);
      fs::remove(out);
    }
}

TEST(Attention, DrawsAGridOfAnImageThatIsMuchWiderThanHigh) {
  const Folder folder;
  const std::string out = folder.path("wide.png");
  const Finished finished =
      attention("hf_vit", {"--grid", "--image-size", "16x4096", "-o", out, golden_image("hf_vit")});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  EXPECT_GT(patch::read_image(out).width, 300u);
}

TEST(Attention, DrawsMergedTokensWhereTheirPartsAre) {
  const auto json = map_of("timm_vit", {"--merge-tokens", "3", "--method", "rollout"});
  EXPECT_EQ(json["maps"][0]["patches"].size(), json["grid"]["rows"]);
  const auto whole = map_of("timm_vit", {"--layer", "1"});
  const auto merged = map_of("timm_vit", {"--layer", "1", "--merge-tokens", "3"});
  double sum = merged["maps"][0]["prefix"]["cls"];
  for (const auto& row : merged["maps"][0]["patches"])
    for (const double weight : row) sum += weight;
  EXPECT_NEAR(sum, 1.0, 1e-4);
  EXPECT_NE(merged["maps"], whole["maps"]);
}

TEST(Attention, SaysThatMergedTokensHaveNoRelevanceOfTheirOwn) {
  for (const std::vector<std::string>& method :
       {std::vector<std::string>{}, {"--method", "relevance"}}) {
    std::vector<std::string> arguments = method;
    arguments.insert(arguments.end(),
                     {"--merge-tokens", "3", "-o", "x.png", golden_image("timm_vit")});
    const Finished finished = attention("timm_vit", arguments);
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(
        finished.err,
        HasSubstr(
            "vit: relevance needs a gradient for each patch, which merged patches do not have; "
            "with --merge-tokens expected --method attention or rollout\n"));
  }
}

TEST(Attention, WritesNumPyArraysOfTheShapeAskedFor) {
  const Folder folder;
  const auto shape_of = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"-o", folder.path("map.npy"), golden_image("timm_vit")});
    EXPECT_EQ(attention("timm_vit", more).status, 0);
    const std::string bytes = read_file(folder.path("map.npy"));
    const size_t open = bytes.find("'shape': ");
    return bytes.substr(open + 9, bytes.find(')', open) - open - 8);
  };
  EXPECT_EQ(shape_of({}), "(4, 4, )");
  EXPECT_EQ(shape_of({"--grid"}), "(2, 3, 4, 4, )");
  EXPECT_EQ(shape_of({"--matrix"}), "(17, 17, )");
  EXPECT_EQ(shape_of({"--matrix", "--layer", "all", "--head", "all"}), "(2, 3, 17, 17, )");
}

TEST(Attention, ExplainsAClassByNumberOrLabel) {
  const auto first = map_of("hf_vit", {"--method", "relevance"});
  const auto& best = first["predictions"][0];
  EXPECT_EQ(first["maps"][0]["layer"], "relevance for " + best["label"].get<std::string>());
  const auto by_number = map_of(
      "hf_vit", {"--method", "relevance", "--class", std::to_string(best["index"].get<int>())});
  EXPECT_EQ(by_number["maps"], first["maps"]);
  const auto by_label = map_of("hf_vit", {"--method", "relevance", "--class", best["label"]});
  EXPECT_EQ(by_label["maps"], first["maps"]);
  const auto other =
      map_of("hf_vit", {"--method", "relevance", "--class",
                        std::to_string(first["predictions"][1]["index"].get<int>())});
  EXPECT_NE(other["maps"][0]["patches"], first["maps"][0]["patches"]);
}

TEST(Attention, MakesOneOutputPerImageAndAnIndexPage) {
  const Folder folder;
  const std::string picture = read_file(golden_image("timm_vit"));
  fs::create_directory(folder.path("photos"));
  for (const auto* name : {"photos/a.png", "photos/b&c.png", "photos/notes.txt"})
    folder.write(name, picture);
  folder.write("photos/broken.jpg", "no image");
  const Finished finished =
      attention("timm_vit", {"-o", folder.path("maps.png"), folder.path("photos")});
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, HasSubstr("broken.jpg"));
  EXPECT_TRUE(fs::exists(folder.path("maps-a.png")));
  EXPECT_TRUE(fs::exists(folder.path("maps-b&c.png")));
  EXPECT_FALSE(fs::exists(folder.path("maps-notes.png")));
  const std::string index = read_file(folder.path("maps-index.html"));
  EXPECT_THAT(index, HasSubstr("maps-b%26c.png"));
  EXPECT_THAT(index, HasSubstr("broken.jpg"));
}

TEST(Attention, RefusesAClassOnceAndNotForEachImageOfAFolder) {
  const Folder folder;
  fs::create_directory(folder.path("photos"));
  for (const auto* name : {"photos/a.png", "photos/b.png"})
    folder.write(name, read_file(golden_image("timm_vit")));
  const Finished finished = attention("timm_vit", {"-o", folder.path("maps.png"), "--class",
                                                   "no such class", folder.path("photos")});
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
  EXPECT_FALSE(fs::exists(folder.path("maps-index.html")));
}

TEST(Attention, CallsAModelThatIsAFileByThatFile) {
  const Folder folder;
  const std::string mine = folder.path("mine.safetensors");
  ASSERT_EQ(run({"convert", golden("timm_vit"), mine}).status, 0);
  const auto written = [&](const std::string& command, const std::string& name,
                           std::vector<std::string> more) {
    more.insert(more.begin(), {command, "-m", mine, "-o", folder.path(name)});
    const Finished finished = run(more);
    EXPECT_EQ(finished.status, 0) << finished.err;
    return read_file(folder.path(name));
  };
  const std::string image = golden_image("timm_vit");
  for (const auto* name : {"map.json", "map.svg", "map.html"})
    EXPECT_THAT(written("attention", name, {image}), HasSubstr("mine.safetensors")) << name;
  EXPECT_THAT(written("heads", "heads.html", {"--images", image}), HasSubstr("mine.safetensors"));
}

TEST(Attention, WritesASelfContainedExplorer) {
  const Folder folder;
  const Finished finished =
      attention("timm_vit", {"-o", folder.path("x.html"), golden_image("timm_vit")});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const std::string page = read_file(folder.path("x.html"));
  EXPECT_THAT(page, HasSubstr("data:image/jpeg;base64,"));
  for (const auto* outside : {"http://", "https://", "src=\"//", "url(", "{{"})
    EXPECT_THAT(page.substr(0, page.find("id=\"attention\"")), testing::Not(HasSubstr(outside)))
        << outside;
}

/// The trained model that comes with the toolkit, at the number of patches of large ones.
TEST(Attention, PacksItsPageIntoLessThanHalfOfTheBytesOfTheWeights) {
  const Folder folder;
  const auto weights = test::source_dir() / "weights" / "default";
  const Finished finished =
      run({"attention", "-m", weights.string(), "--image-size", "192", "-o", folder.path("x.html"),
           (weights / "pictures" / "school_bus.png").string()});
  ASSERT_EQ(finished.status, 0) << finished.err;
  const std::string page = read_file(folder.path("x.html"));
  const size_t open = page.find("id=\"attention\">");
  const size_t length = page.find("</script>", open) - open;
  const size_t heads = 6 * 4, tokens = 24 * 24;
  EXPECT_LT(length, heads * tokens * tokens * 4 / 3 / 2);
}

TEST(Attention, NamesWhatThereIs) {
  const Folder folder;
  const auto message = [&](const std::string& model, std::vector<std::string> more) {
    more.insert(more.end(), {"-o", folder.path("x.png"), golden_image(model)});
    const Finished finished = attention(model, more);
    EXPECT_EQ(finished.status, 1);
    EXPECT_FALSE(fs::exists(folder.path("x.png")));
    return finished.err;
  };
  EXPECT_EQ(message("timm_vit", {"--layer", "2"}),
            "vit: layer 2: the model has layers 0 to 1, or -1 to -2 from the last\n");
  EXPECT_EQ(message("timm_vit", {"--head", "3"}), "vit: head 3: the model has heads 0 to 2\n");
  EXPECT_EQ(message("timm_vit", {"--query", "distillation"}),
            "vit: query 'distillation': the model has no such token, it has cls and 4x4 patches\n");
  EXPECT_EQ(message("hf_vit", {"--method", "relevance", "--class", "bird"}),
            "vit: 'bird' is not a class of ViTForImageClassification by name, WordNet id or index "
            "(0 to 9); kinds of bird are cock, hen, ostrich\n");
  EXPECT_EQ(message("timm_vit", {"--method", "relevance", "--class", "10"}),
            "vit: '10' is not a class of vit_tiny_patch16_224 by name, WordNet id or index (0 to "
            "9)\n");
  EXPECT_THAT(message("timm_vit", {"--query", "pool"}), HasSubstr("has no attention pool"));
}

TEST(Attention, LeavesNothingBehindWhereItCannotWrite) {
  const Finished finished =
      attention("timm_vit", {"-o", "/no/such/folder/x.png", golden_image("timm_vit")});
  EXPECT_EQ(finished.status, 1);
  EXPECT_EQ(finished.err,
            "vit: /no/such/folder/x.png: cannot write: there is no folder /no/such/folder\n");
}

TEST(Attention, FindsAClassByItsNameItsWordNetIdAndItsNumber) {
  const auto class_of = [](const std::string& text) {
    return map_of("hf_vit", {"--class", text})["maps"][0]["class"]["index"].get<int>();
  };
  const int hen = class_of("hen");
  EXPECT_EQ(class_of("n01514859"), hen);
  EXPECT_EQ(class_of("HEN"), hen);
  EXPECT_EQ(class_of(std::to_string(hen)), hen);
}

/// The map of a class names this class, not the answer, with its own probability.
TEST(Attention, SaysWhichClassAMapIsOf) {
  const auto all = nlohmann::json::parse(
      run({"classify", "--json", "-m", golden("timm_vit"), golden_image("timm_vit")}).out);
  const auto& last = all["images"][0]["predictions"].back();
  const auto json = map_of("timm_vit", {"--class", std::to_string(last["class"].get<int>())});
  const auto& target = json["maps"][0]["class"];
  EXPECT_EQ(target["index"], last["class"]);
  EXPECT_NEAR(target["probability"].get<double>(), last["probability"].get<double>(), 1e-5);
  const Folder folder;
  ASSERT_EQ(attention("timm_vit", {"--class", std::to_string(last["class"].get<int>()), "-o",
                                   folder.path("map.svg"), golden_image("timm_vit")})
                .status,
            0);
  EXPECT_THAT(read_file(folder.path("map.svg")),
              HasSubstr(">" + last["label"].get<std::string>() + "  "));
}

TEST(Attention, WritesVectorFilesAndBareMaps) {
  const Folder folder;
  const auto draw = [&](const std::string& name, std::vector<std::string> more) {
    more.insert(more.end(), {"-o", folder.path(name), golden_image("timm_vit")});
    const Finished finished = attention("timm_vit", more);
    EXPECT_EQ(finished.status, 0) << finished.err;
    return read_file(folder.path(name));
  };
  EXPECT_THAT(draw("map.pdf", {}), testing::StartsWith("%PDF-"));
  const std::string sheet = draw("sheet.svg", {"--layer", "1", "--head", "all"});
  for (const auto* name : {"layer 1", "head 0", "head 2"})
    EXPECT_THAT(sheet, HasSubstr(">" + std::string(name) + "</text>"));
  const std::string matrix = draw("matrix.svg", {"--matrix", "--layer", "0", "--head", "0"});
  EXPECT_THAT(matrix, HasSubstr("colours by the square root of the attention</text>"));
  EXPECT_THAT(matrix, HasSubstr(">cls</text>"));
  draw("map.png", {});
  draw("bare.png", {"--bare"});
  const auto map = patch::read_image(folder.path("map.png")),
             bare = patch::read_image(folder.path("bare.png"));
  EXPECT_EQ(bare.width, bare.height);
  EXPECT_GT(map.width, 2 * bare.width);
}

}  // namespace
}  // namespace vit::tools
