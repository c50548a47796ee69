#include "tools/attention/settings.h"

#include <gtest/gtest.h>

#include "tools/attention/attention.h"

namespace vit::tools {
namespace {

using interpret::QueryKind;

std::string message_of(const std::vector<const char*>& arguments) {
  cxxopts::Options options = options_of(attention_command());
  try {
    parse_attention(parse(options, arguments));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

AttentionSettings parsed(std::vector<const char*> arguments) {
  for (const char* word : {"-m", "model", "-o", "out.png", "image.jpg"}) arguments.push_back(word);
  cxxopts::Options options = options_of(attention_command());
  return parse_attention(parse(options, arguments));
}

TEST(AttentionSettings, ReadEveryKindOfQuery) {
  using interpret::Query;
  EXPECT_EQ(to_query("cls"), Query{.kind = QueryKind::kClass});
  EXPECT_EQ(to_query("distillation"), Query{.kind = QueryKind::kDistillation});
  EXPECT_EQ(to_query("register:3"), (Query{.kind = QueryKind::kRegister, .index = 3}));
  EXPECT_EQ(to_query("2,13"), (Query{.kind = QueryKind::kPatch, .row = 2, .col = 13}));
  EXPECT_EQ(to_query("x:10,y:20.5"), (Query{.kind = QueryKind::kPixel, .x = 10.0, .y = 20.5}));
  EXPECT_EQ(to_query("mean"), Query{.kind = QueryKind::kMean});
  EXPECT_EQ(to_query("pool"), Query{.kind = QueryKind::kPool});
  for (const auto* bad : {"", "CLS", "register:", "register:-1", "1,", "1,2,3", "x:1", "x:1,2"})
    EXPECT_FALSE(to_query(bad)) << bad;
}

TEST(AttentionSettings, ChooseLayersAndHeads) {
  EXPECT_EQ(parsed({"--layer", "3", "--head", "2"}).map.layer, 3);
  EXPECT_EQ(parsed({"--layer", "3", "--head", "2"}).map.head, 2u);
  EXPECT_EQ(parsed({"--layer=-2"}).map.layer, -2);
  EXPECT_TRUE(parsed({"--layer", "all"}).map.all_layers);
  EXPECT_TRUE(parsed({"--head", "all"}).map.all_heads);
  EXPECT_EQ(parsed({"--head", "max"}).map.fusion, interpret::HeadFusion::kMax);
  EXPECT_FALSE(parsed({}).map.layer);
  EXPECT_EQ(parsed({"--threshold", "0.6"}).look.threshold, 0.6);
}

TEST(AttentionSettings, LeaveTheViewOpenWhereNothingIsAskedFor) {
  for (const std::vector<const char*>& given : {std::vector<const char*>{},
                                                {"--alpha", "0.5"},
                                                {"--head-fusion", "max"},
                                                {"--start-layer", "3"}}) {
    EXPECT_EQ(parsed(given).view, View::kRelevance);
    EXPECT_TRUE(parsed(given).by_default);
  }
  const auto chosen = [](const std::vector<const char*>& given) {
    const AttentionSettings settings = parsed(given);
    EXPECT_FALSE(settings.by_default);
    return settings.view;
  };
  EXPECT_EQ(chosen({"--layer", "3"}), View::kAttention);
  EXPECT_EQ(chosen({"--method", "attention"}), View::kAttention);
  EXPECT_EQ(chosen({"--method", "rollout"}), View::kRollout);
  EXPECT_EQ(chosen({"--grid"}), View::kGrid);
  EXPECT_EQ(chosen({"--matrix"}), View::kMatrix);
  EXPECT_EQ(chosen({"--class", "cat"}), View::kRelevance);
}

TEST(AttentionSettings, SayWhatIsWrong) {
  EXPECT_EQ(message_of({"-m", "m", "a.jpg"}),
            "no output given, expected -o FILE that ends in .png, .jpg, .svg, .pdf, .html, .npy or "
            ".json");
  EXPECT_EQ(message_of({"-m", "m", "-o", "a.png"}),
            "no image given, expected files or folders, or - for one on standard input");
  EXPECT_EQ(
      message_of({"-m", "m", "-o", "a.gif", "a.jpg"}),
      "option '--output' got 'a.gif', expected a name that ends in .png, .jpg, .jpeg, .svg, .pdf, "
      ".html, .npy "
      "or .json");
  EXPECT_EQ(message_of({"-m", "m", "-o", "a.png", "a.jpg", "--layer", "x"}),
            "option '--layer' got 'x', expected a number from 0, a negative one from the last, or "
            "all");
  EXPECT_EQ(message_of({"-m", "m", "-o", "a.png", "a.jpg", "--query", "CLS"}),
            "option '--query' got 'CLS', expected cls, distillation, register:N, mean, pool, "
            "ROW,COL of the patch grid or x:PX,y:PX of the image");
  EXPECT_EQ(message_of({"-m", "m", "-o", "a.png", "a.jpg", "--threshold", "2"}),
            "option '--threshold' got '2', expected a number from 0 to 1");
  EXPECT_EQ(message_of({"-m", "m", "-o", "a.png", "a.jpg", "--grid", "--matrix"}),
            "--grid, --matrix, --positions-similarity and --filters are different pictures, give "
            "one of them");
  EXPECT_EQ(message_of({"-m", "m", "-o", "a.png", "a.jpg", "--filters"}),
            "this is a picture of the model alone, expected no image, got 'a.jpg'");
  EXPECT_EQ(message_of({"-m", "m", "-o", "a.html", "a.jpg", "--grid"}),
            "an .html output holds every layer and head already; give a picture's name for --grid, "
            "--matrix, --positions-similarity or --filters");
}

TEST(AttentionSettings, RefuseAnOptionThatWouldChangeNothing) {
  const auto message = [](std::vector<const char*> options, const char* output = "a.png") {
    options.insert(options.end(), {"-m", "m", "-o", output, "a.jpg"});
    return message_of(options);
  };
  EXPECT_EQ(
      message({"--class", "cat", "--method", "rollout"}),
      "--class has no effect with --method rollout; it applies to --method relevance or an .html "
      "output");
  EXPECT_EQ(message({"--method", "rollout", "--head", "1"}),
            "--head has no effect with --method rollout; it applies to --method attention or "
            "--matrix");
  EXPECT_EQ(message({"--class", "cat", "--layer", "3"}),
            "--layer has no effect with --method relevance, which --class implies; it applies to "
            "--method attention or --matrix");
  EXPECT_EQ(message({"--layer", "3", "--discard", "0.5"}),
            "--discard has no effect with --method attention, which --layer implies; it applies to "
            "--method rollout");
  EXPECT_EQ(message({"--discard", "0.5"}),
            "--discard has no effect with --method relevance, the default; it applies to --method "
            "rollout");
  EXPECT_EQ(message({"--query", "cls", "--start-layer", "3"}),
            "--start-layer has no effect with --method attention, which --query implies; it "
            "applies to --method rollout or --method relevance");
  EXPECT_EQ(message({"--layer", "3"}, "a.html"),
            "--layer has no effect with an .html output; it applies to --method attention or "
            "--matrix");
  EXPECT_EQ(message({"--alpha", "0.3"}, "a.npy"),
            "--alpha has no effect on numbers (.npy, .json); it applies to pictures (.png, .jpg, "
            ".svg, .pdf)");
  EXPECT_EQ(message({"--head", "2", "--head-fusion", "max"}),
            "--head-fusion has no effect with --head, which chooses the head or how heads are "
            "fused; give one of them");
  EXPECT_EQ(message({"--matrix", "--method", "rollout"}),
            "--grid and --matrix show layers and heads one by one, expected --method attention");
  EXPECT_EQ(message({"--precision", "int8"}),
            "relevance is computed in f32; with --precision int8 the answer shown with it would "
            "differ from it; expected --precision f32, or a picture of --method attention or "
            "rollout");
  EXPECT_EQ(message({"--merge-tokens", "4"}),
            "relevance needs a gradient for each patch, which merged patches do not have; with "
            "--merge-tokens expected --method attention or rollout");
}

TEST(AttentionSettings, ReadHeadsToDisable) {
  EXPECT_EQ(parse_heads("--disable-heads", "3:0,11:2"), (std::vector<HeadId>{{3, 0}, {11, 2}}));
  for (const auto* bad : {"", "3", "3:", ":3", "3:0,", "a:b", "3:-1"}) {
    try {
      parse_heads("--disable-heads", bad);
      FAIL() << bad;
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(), "option '--disable-heads' got '" + std::string(bad) +
                                  "', expected heads as LAYER:HEAD,LAYER:HEAD, such as 3:0,11:2");
    }
  }
}

}  // namespace
}  // namespace vit::tools
