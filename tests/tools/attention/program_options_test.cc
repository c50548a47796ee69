// Every option of vit attention changes the result or is refused with a reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "patch/image/image.h"
#include "tests/interpret/synthetic.h"
#include "tests/support/paths.h"
#include "tests/support/random_checkpoint.h"
#include "tests/tools/subprocess.h"
#include "weights/save.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;
using Words = std::vector<std::string>;

/// A model on which every option has an effect.
class AttentionOptions : public testing::Test {
 protected:
  AttentionOptions() {
    const weights::Checkpoint checkpoint = test::random_checkpoint(test::small_config());
    weights::save(model(), checkpoint);
    folder.write("image.png", read_file(golden_image("timm_vit")));
  }

  std::string model() const { return folder.path("model.safetensors"); }

  struct Shown {
    Finished finished;
    std::optional<std::string> bytes{};
  };
  Shown show(const Words& options, const std::string& ending, bool of_image = true) const {
    const std::string out = folder.path("out" + ending);
    fs::remove(out);
    Call call;
    call.arguments = {"attention", "-m", model(), "-o", out, "--threads", "1"};
    if (of_image) call.arguments.push_back(folder.path("image.png"));
    call.arguments.insert(call.arguments.end(), options.begin(), options.end());
    Shown shown{run(call)};
    if (fs::exists(out)) shown.bytes = read_file(out);
    return shown;
  }

  Folder folder;
};

struct Option {
  Words words;
  std::string views;  ///< '+' changes it, '.' is refused; in the order of kViews
  const char* ending = ".json";
};

struct ViewCase {
  const char* name;
  Words words;
  bool of_image = true;
  const char* ending = "";  ///< empty: the option's
};

const std::vector<ViewCase> kViews{
    {"attention", {"--method", "attention"}},
    {"by layer", {"--layer", "1"}},
    {"rollout", {"--method", "rollout"}},
    {"relevance", {"--method", "relevance"}},
    {"default", {}},
    {"by class", {"--class", "2"}},
    {"grid", {"--grid"}},
    {"matrix", {"--matrix"}},
    {"positions", {"--positions-similarity"}, false},
    {"filters", {"--filters"}, false},
    {"page", {}, true, ".html"},
};

const std::vector<Option> kOptions{
    // attention, by layer, rollout, relevance, default, by class, grid, matrix, positions, filters,
    // page; ' ': the view has the option already, or the option is what chooses another view
    {{"--layer", "0"}, "+ .. ..+..."},
    {{"--head", "1"}, "++.. ..+..."},
    {{"--query", "1,1"}, "++++ ++...."},
    {{"--head-fusion", "max"}, "++++++.+..."},
    {{"--start-layer", "1"}, "..++++....."},
    {{"--discard", "0.5"}, "..+........"},
    {{"--class", "1"}, "...++ ....+"},
    {{"--merge-tokens", "3"}, "+++...++..+"},
    {{"--precision", "int8"}, "+++...++..."},
    {{"--image-size", "40"}, "+++++++++.+"},
    {{"--bare"}, "+++++++....", ".png"},
    {{"--threshold", "0.5"}, "+++++++....", ".png"},
    {{"--clip-percentile", "50"}, "++++++++...", ".png"},
    {{"--colormap", "viridis"}, "+++++++++..", ".png"},
    {{"--alpha", "0.2"}, "+++++++....", ".png"},
    {{"--upsample", "nearest"}, "+++++++....", ".png"},
    {{"--method", "rollout"}, "    + ....."},
};

TEST_F(AttentionOptions, EachChangesTheResultOrIsRefusedWithAReason) {
  for (size_t v = 0; v < kViews.size(); ++v) {
    const ViewCase& view = kViews[v];
    for (const Option& option : kOptions) {
      ASSERT_EQ(option.views.size(), kViews.size()) << option.words[0];
      if (option.views[v] == ' ') continue;
      SCOPED_TRACE(std::string(view.name) + " " + option.words[0]);
      const std::string ending = *view.ending == '\0' ? option.ending : view.ending;
      Words words = view.words;
      words.insert(words.end(), option.words.begin(), option.words.end());
      const Shown with = show(words, ending, view.of_image);
      if (option.views[v] == '.') {
        EXPECT_EQ(with.finished.status, 2) << with.finished.err;
        EXPECT_THAT(with.finished.err,
                    AnyOf(HasSubstr(" has no effect with "), HasSubstr("; expected --"),
                          HasSubstr(" expected --method attention")));
        EXPECT_FALSE(with.bytes);
        continue;
      }
      const Shown without = show(view.words, ending, view.of_image);
      ASSERT_EQ(without.finished.status, 0) << without.finished.err;
      ASSERT_EQ(with.finished.status, 0) << with.finished.err;
      EXPECT_NE(*with.bytes, *without.bytes);
    }
  }
}

TEST_F(AttentionOptions, PicturesOfLooksAreRefusedForNumbers) {
  for (const Option& option : kOptions) {
    if (std::string_view(option.ending) != ".png") continue;
    for (const char* ending : {".json", ".npy"}) {
      const Shown shown = show(option.words, ending);
      EXPECT_EQ(shown.finished.status, 2);
      EXPECT_EQ(shown.finished.err,
                "vit: " + option.words[0] +
                    " has no effect on numbers (.npy, .json); it applies to pictures (.png, "
                    ".jpg, .svg, .pdf)\nvit: see 'vit attention --help'\n");
    }
  }
}

TEST_F(AttentionOptions, OptionsOfRelevanceKeepItAsTheDefault) {
  for (const Words& words : {Words{}, {"--start-layer", "1"}, {"--head-fusion", "min"}}) {
    const Shown shown = show(words, ".json");
    ASSERT_EQ(shown.finished.status, 0) << shown.finished.err;
    EXPECT_THAT(nlohmann::json::parse(*shown.bytes)["maps"][0]["layer"].get<std::string>(),
                testing::StartsWith("relevance for "));
  }
}

TEST_F(AttentionOptions, AModelWithoutClassesRefusesOptionsOfRelevance) {
  ModelConfig config = test::small_config();
  config.head.classes = 0;
  weights::save(model(), test::random_checkpoint(config));
  const Shown shown = show({"--start-layer", "1"}, ".json");
  EXPECT_EQ(shown.finished.status, 2);
  EXPECT_THAT(shown.finished.err,
              HasSubstr("vit: --start-layer has no effect with --method attention, the default of "
                        "a model without class relevance; it applies to --method rollout or "
                        "--method relevance\n"));
  EXPECT_EQ(show({"--head-fusion", "max"}, ".json").finished.status, 0);
}

TEST_F(AttentionOptions, RelevanceOfAnInt8ModelShowsTheAnswerOfTheSameArithmetic) {
  const Shown f32 = show({"--precision", "f32"}, ".json");
  weights::save(folder.path("int8.safetensors"), test::random_checkpoint(test::small_config()),
                {.dtype = weights::DType::kI8});
  fs::rename(folder.path("int8.safetensors"), model());
  const auto answer = [](const Shown& shown) {
    return nlohmann::json::parse(*shown.bytes)["predictions"];
  };
  const Shown relevance = show({}, ".json");
  ASSERT_EQ(relevance.finished.status, 0) << relevance.finished.err;
  EXPECT_EQ(answer(relevance), answer(show({"--precision", "f32"}, ".json")));
  EXPECT_NE(answer(relevance), answer(show({"--method", "attention"}, ".json")))
      << "the model's own arithmetic";
  EXPECT_NE(answer(relevance), answer(f32)) << "the weights were not rounded";
}

TEST_F(AttentionOptions, NoOutputOverwritesAnInput) {
  const std::string photo = folder.path("image.png");
  const std::string before = read_file(photo);
  fs::create_hard_link(photo, folder.path("other.png"));
  fs::create_symlink(photo, folder.path("link.png"));
  for (const auto* name : {"image.png", "./image.png", "other.png", "link.png"}) {
    const Finished finished =
        run({"attention", "-m", model(), photo, "-o", folder.path() + "/" + name});
    EXPECT_EQ(finished.status, 2) << name;
    EXPECT_EQ(finished.err, "vit: " + folder.path() + "/" + name +
                                ": the output would overwrite the input " + photo +
                                "; give another name\nvit: see 'vit attention --help'\n");
    EXPECT_EQ(read_file(photo), before);
  }
  // With several inputs each output has its own name.
  const std::string second = folder.write("maps-image.png", before);
  const Finished several =
      run({"attention", "-m", model(), photo, second, "-o", folder.path("maps.png")});
  EXPECT_EQ(several.status, 2);
  EXPECT_THAT(several.err, HasSubstr(second + ": the output would overwrite the input " + second));
  const Finished heads = run({"heads", model(), "--images", photo, "-o", photo});
  EXPECT_EQ(heads.status, 2);
  EXPECT_THAT(heads.err, HasSubstr(photo + ": the output would overwrite the input " + photo));
  EXPECT_EQ(read_file(photo), before);
}

TEST_F(AttentionOptions, APoolWithFewerHeadsThanTheLayersIsDrawn) {
  ModelConfig config = test::small_config({.branches = 2});
  config.head.pooling = Pooling::kAttention;
  weights::save(model(), test::random_checkpoint(config));
  const Shown sheet = show({"--grid"}, ".png");
  ASSERT_EQ(sheet.finished.status, 0) << sheet.finished.err;
  EXPECT_GT(patch::read_image(folder.path("out.png")).width, 6 * 112u);
  const auto json = nlohmann::json::parse(*show({"--grid"}, ".json").bytes);
  EXPECT_EQ(json["maps"].size(), 3u * 6 + 3);
  const Shown array = show({"--grid"}, ".npy");
  EXPECT_EQ(array.finished.status, 1);
  EXPECT_EQ(array.finished.err,
            "vit: an .npy array needs the same number of heads in every row, but 'pool' has 3 and "
            "'layer 0' has 6; give a name that ends in .json\n");
}

TEST_F(AttentionOptions, NumbersBeyondAllBoundsAreAnErrorThatNamesTheLayer) {
  weights::Checkpoint checkpoint = test::random_checkpoint(test::small_config());
  std::vector<float> huge(3 * 24 * 24, 1e30f);  // finite, but their products are not
  const weights::Shape shape{3 * 24, 24};
  checkpoint.add("blocks.1.attn.qkv.weight",
                 weights::Tensor{weights::DType::kF32, shape, weights::contiguous_strides(shape),
                                 reinterpret_cast<const std::byte*>(huge.data())});
  weights::save(model(), checkpoint);
  const std::string photo = folder.path("image.png");
  const std::string reason =
      "vit: " + photo +
      ": the attention of layer 1 is NaN or infinite; the weights are damaged, or the training "
      "diverged\n";
  for (const Words& words :
       {Words{}, {"--layer", "0", "--head", "0"}, {"--grid"}, {"--method", "rollout"}}) {
    const Shown shown = show(words, ".png");
    EXPECT_EQ(shown.finished.status, 1);
    EXPECT_EQ(shown.finished.err, reason);
    EXPECT_FALSE(shown.bytes);
  }
  const Finished heads = run({"heads", model(), "--images", photo});
  EXPECT_EQ(heads.status, 1);
  EXPECT_EQ(heads.err, reason);
}

TEST_F(AttentionOptions, AModelsNameDoesNotDriveTheTerminal) {
  const std::string evil = folder.path("evil\033[31m.safetensors");
  weights::save(evil, test::random_checkpoint(test::small_config()));
  const Finished heads = run({"heads", evil, "--images", folder.path("image.png")});
  ASSERT_EQ(heads.status, 0) << heads.err;
  EXPECT_THAT(heads.out, testing::StartsWith("evil\\x1b[31m.safetensors: 3 layers of 3 heads"));
}

TEST_F(AttentionOptions, NoPlantedLinkIsFollowed) {
  const std::string victim = folder.write("victim", "precious");
  // The shell's process becomes the program, so that its id is known before it runs.
  Call call;
  call.program = "sh";
  call.arguments = {"-c",
                    "ln -s \"$1\" \"$2.$$.tmp\" && ln -s \"$1\" \"$2.$$-0.tmp\" && "
                    "ln -s \"$1\" \"$2.tmp\" && exec \"$0\" attention -m \"$3\" \"$4\" -o \"$2\"",
                    test::program(),
                    victim,
                    folder.path("out.png"),
                    model(),
                    folder.path("image.png")};
  const Finished finished = run(call);
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(read_file(victim), "precious");
  EXPECT_FALSE(fs::is_symlink(folder.path("out.png")));
  EXPECT_GT(patch::read_image(folder.path("out.png")).width, 300u);
}

}  // namespace
}  // namespace vit::tools
