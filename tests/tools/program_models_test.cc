#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/paths.h"
#include "tests/tools/subprocess.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

struct GoldenModel {
  std::string path;
  std::string image;
  std::vector<std::string> options{};  ///< what the file does not say
};

std::vector<GoldenModel> golden_models() {
  std::vector<GoldenModel> models;
  for (const auto& entry : fs::directory_iterator(test::goldens())) {
    const std::string folder = entry.path().string();
    if (!fs::exists(folder + "/image.png")) continue;
    models.push_back({folder, folder + "/image.png"});
    // A bare file lies beside its expected results.
    for (const auto* bare : {"/vit.npz", "/vit.pth"})
      if (fs::exists(folder + bare)) models.back().path += bare;
    if (fs::exists(folder + "/vit.pth")) models.back().options = {"--heads", "3"};
  }
  return models;
}

/// `vit COMMAND` with a model's options before the arguments.
Finished run_with(const std::string& command, const std::vector<std::string>& options,
                  const std::vector<std::string>& more) {
  std::vector<std::string> arguments{command};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

TEST(Convert, KeepsEveryModelToTheBit) {
  const Folder folder;
  const auto models = golden_models();
  EXPECT_GE(models.size(), 18u);
  for (const auto& [model, image, options] : models) {
    const std::string output = folder.path("m.safetensors");
    const Finished converted =
        run_with("convert", options, {"--force", "--dtype", "f32", model, output});
    ASSERT_EQ(converted.status, 0) << converted.err;
    const std::vector<std::string> classify{"--json", "--logits", "-k", "3", image, "-m"};
    auto of_original = classify, of_output = classify;
    of_original.push_back(model);
    of_output.push_back(output);
    const Finished before = run_with("classify", options, of_original);
    const Finished after = run_with("classify", {}, of_output);
    if (before.status != 0) {
      EXPECT_THAT(before.err, HasSubstr("has no classifier")) << model;
      EXPECT_THAT(after.err, HasSubstr("has no classifier")) << model;
      continue;
    }
    ASSERT_EQ(after.status, 0) << after.err;
    const json expected = json::parse(before.out), found = json::parse(after.out);
    EXPECT_EQ(found["recipe"], expected["recipe"]) << model;
    EXPECT_EQ(found["images"], expected["images"]) << model;
  }
}

/// Twice from the model, then from the first result.
void expect_same_bytes(const GoldenModel& model, std::vector<std::string> dtype) {
  const Folder folder;
  const auto convert = [&](const std::string& from, std::vector<std::string> options,
                           const std::string& to) {
    options.insert(options.end(), dtype.begin(), dtype.end());
    const Finished finished = run_with("convert", options, {from, folder.path(to)});
    EXPECT_EQ(finished.status, 0) << finished.err;
    return read_file(folder.path(to));
  };
  const std::string bytes = convert(model.path, model.options, "1");
  EXPECT_TRUE(convert(model.path, model.options, "2") == bytes) << model.path;
  EXPECT_TRUE(convert(folder.path("1"), {}, "3") == bytes) << model.path;
}

TEST(Convert, GivesTheSameBytesAgainAndFromItsOwnOutput) {
  for (const auto& model : golden_models()) expect_same_bytes(model, {});
  const GoldenModel one{golden("hf_vit"), "", {}};
  for (const auto* dtype : {"f32", "f16", "bf16", "int8"})
    expect_same_bytes(one, {"--dtype", dtype});
}

TEST(Convert, LosesNothingUnlessAsked) {
  const Folder folder;
  for (const auto& [name, dtype] : std::vector<std::pair<std::string, std::string>>{
           {"timm_vit", "f32"}, {"timm_vit_f16", "f16"}, {"timm_vit_bf16", "bf16"}}) {
    const std::string output = folder.path(name);
    const Finished finished = run({"convert", golden(name), output});
    EXPECT_THAT(finished.out, AllOf(StartsWith(output + ": 94,906 parameters, " + dtype + ", ")));
    const auto info = json::parse(run({"info", "--json", output}).out);
    EXPECT_EQ(info["dtypes"][0], dtype);
  }
}

/// The answers of every reference model that has any, as `vit classify` prints them.
json answers(const GoldenModel& model, const std::string& path, std::vector<std::string> more) {
  more.insert(more.end(), {"--json", "--logits", "-k", "3", model.image, "-m", path});
  const Finished finished =
      run_with("classify", path == model.path ? model.options : std::vector<std::string>{}, more);
  if (finished.status == 0) return json::parse(finished.out)["images"];
  EXPECT_THAT(finished.err, HasSubstr("has no classifier")) << path;
  return {};
}

TEST(Convert, Int8AnswersAsTheModelDoesInInt8) {
  const Folder folder;
  size_t differ = 0;
  for (const auto& model : golden_models()) {
    const std::string output = folder.path("m.safetensors");
    const Finished converted =
        run_with("convert", model.options, {"--force", "--dtype", "int8", model.path, output});
    ASSERT_EQ(converted.status, 0) << converted.err;
    EXPECT_THAT(converted.out, HasSubstr(" parameters, int8, "));
    const json quantized = answers(model, model.path, {"--precision", "int8"});
    EXPECT_EQ(answers(model, output, {}), quantized) << model.path;
    EXPECT_EQ(answers(model, output, {"--precision", "int8"}), quantized) << model.path;
    // Asked for floats, it runs the same rounded weights in float: near, but not the same.
    if (!quantized.is_null()) differ += answers(model, output, {"--precision", "f32"}) != quantized;
    const auto info = json::parse(run({"info", "--json", output}).out);
    EXPECT_THAT(info["dtypes"], testing::UnorderedElementsAre("int8", "f32")) << model.path;
  }
  EXPECT_GE(differ, 10u);
}

TEST(Convert, WritesTheMeanOfModels) {
  const Folder folder;
  const std::string one = folder.path("one"), mean = folder.path("mean");
  ASSERT_EQ(run({"convert", golden("timm_vit"), one}).status, 0);
  const Finished same = run({"convert", "-m", one, "--mean-with", one, "--mean-with", one, mean});
  EXPECT_EQ(same.status, 0) << same.err;
  EXPECT_TRUE(read_file(mean) == read_file(one));
  const std::string rounded = golden("timm_vit_bf16");
  const Finished other = run({"convert", "-m", one, "--mean-with", rounded, "--force", mean});
  EXPECT_EQ(other.status, 0) << other.err;
  EXPECT_FALSE(read_file(mean) == read_file(one));

  const Finished refused =
      run({"convert", "-m", one, "--mean-with", golden("hf_vit"), "--force", mean});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr(golden("hf_vit") + ": it has no common mean with " + one));
  const Finished both = run({"convert", "-m", one, "--mean-with", one, "--force", one});
  EXPECT_EQ(both.status, 2) << "the output is one of the inputs";
  EXPECT_THAT(both.err, HasSubstr(one));
  const Finished words =
      run({"convert", "-m", one, "--mean-with", one, "--labels", "a cat", "--force", mean});
  EXPECT_EQ(words.status, 2);
  EXPECT_THAT(words.err, HasSubstr("--labels and --mean-with given, expected one of them"));
}

TEST(Convert, OverwritesOnlyWhenForced) {
  const Folder folder;
  const std::string output = folder.write("m.safetensors", "precious");
  const Finished refused = run({"convert", golden("timm_vit"), output});
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(refused.err, "vit: " + output + ": exists already; --force overwrites it\n");
  EXPECT_EQ(read_file(output), "precious");
  EXPECT_EQ(run({"convert", golden("timm_vit"), output, "--force"}).status, 0);
}

TEST(Convert, SaysGotAndExpected) {
  const Folder folder;
  const Finished one = run({"convert", "a"});
  EXPECT_EQ(one.status, 2);
  EXPECT_THAT(one.err,
              HasSubstr("vit: 'a' is not a file to write, expected OUTPUT.safetensors; the "
                        "model is given before it or with -m\n"));
  const Finished none = run({"convert"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err,
              HasSubstr("vit: no operand given, expected the file to write, and the model "
                        "before it unless -m gives it\n"));
  const Finished both = run({"convert", "-m", "a", "b", "c.safetensors"});
  EXPECT_EQ(both.status, 2);
  EXPECT_THAT(both.err, HasSubstr("vit: 2 operands given, expected the file to write"));
  for (const auto* name : {"m.pth", "m.bin", "m.gguf"}) {
    const Finished other = run({"convert", golden("timm_vit"), folder.path(name)});
    EXPECT_EQ(other.status, 2);
    EXPECT_THAT(other.err, HasSubstr("expected a name that ends in .safetensors\n"));
    EXPECT_FALSE(fs::exists(folder.path(name)));
  }
  const Finished dtype = run({"convert", "--dtype", "int4", golden("timm_vit"), folder.path("m")});
  EXPECT_EQ(dtype.status, 2);
  EXPECT_THAT(dtype.err,
              HasSubstr("option '--dtype' got 'int4', expected f32, f16, bf16 or int8\n"));
}

TEST(Info, SaysWhatAModelIs) {
  const Finished finished = run({"info", golden("hf_dinov2")});
  EXPECT_EQ(finished.status, 0) << finished.err;
  for (const auto* line :
       {"  architecture    Dinov2ForImageClassification\n",
        "  weights         safetensors, Hugging Face names, f32, 354.8 kB\n",
        "  input           70x70 pixels, patches of 14x14, grid 5x5\n",
        "  tokens          26: class + 25 patches; positions learned, table 5x5\n",
        "  encoder         2 blocks (pre-norm), 48 wide, 3 heads of 16\n",
        "  head            class-and-mean pooling, 10 classes\n",
        "  labels          10: tench, goldfish, great white shark, tiger shark, hammerhead, …\n",
        "  parameters      87,370\n", "  unused          1 tensor: dinov2.embeddings.mask_token\n"})
    EXPECT_THAT(finished.out, HasSubstr(line));
}

/// Where references disagree, the layout of the file decides, and info says how.
TEST(Info, NamesTheRuleOfTheLayout) {
  const auto shown = [](const std::string& model, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"info", golden("families/" + model)};
    words.insert(words.end(), more.begin(), more.end());
    return run(words).out;
  };
  EXPECT_THAT(shown("pe_core"), HasSubstr("  other sizes     positions bicubic-antialias; rotary "
                                          "indices scaled to 4x4 patches, as timm\n"));
  EXPECT_THAT(shown("original_pe_core/PE-Core.pt", {"--heads", "2"}),
              HasSubstr("  other sizes     positions bilinear; rotary by plain indices, as its "
                        "authors' code\n"));
  EXPECT_THAT(shown("beit"), HasSubstr("  other sizes     relative bias geometric, as timm\n"));
  EXPECT_THAT(shown("hf_beit"),
              HasSubstr("  other sizes     relative bias bilinear, as transformers\n"));
  EXPECT_THAT(shown("relpos_mlp"),
              HasSubstr("  other sizes     relative bias computed for the new offsets\n"));
  EXPECT_THAT(shown("original_cait/XXS24_224.pth"),
              HasSubstr("  other sizes     positions bicubic-antialias, where timm has no rule\n"));
  EXPECT_THAT(shown("dinov3_small"), HasSubstr("  head            mean pooling (as timm), 10"));
  const std::string dinov3 = shown("hf_dinov3");
  EXPECT_THAT(dinov3,
              HasSubstr("  head            class pooling (as its authors and transformers), no"));
  EXPECT_THAT(dinov3,
              HasSubstr("  other sizes     rotary coordinates from -1 to 1 on every grid\n"));
  EXPECT_THAT(dinov3, HasSubstr("(bilinear, not rounded to bytes)"));
}

TEST(Info, GivesStableKeysInJson) {
  const auto info =
      nlohmann::ordered_json::parse(run({"info", "--json", "--tensors", golden("timm_vit")}).out);
  std::vector<std::string> keys;
  for (const auto& [key, value] : info.items()) keys.push_back(key);
  EXPECT_THAT(
      keys, testing::ElementsAre("model", "file", "file_bytes", "format", "layout", "dtypes",
                                 "architecture", "input", "encoder", "head", "recipe", "labels",
                                 "parameters", "multiply_adds", "weight_bytes", "activation_bytes",
                                 "assumptions", "unused", "tensors"));
  EXPECT_EQ(info["encoder"]["width"], 48);
  EXPECT_EQ(info["input"]["prefix"], nlohmann::ordered_json({"class"}));
  EXPECT_EQ(info["parameters"], 94906);
  EXPECT_EQ(info["tensors"][0]["name"], "patch_embed.proj.weight");
  EXPECT_EQ(info["tensors"][0]["shape"], nlohmann::ordered_json({48, 3, 16, 16}));
}

TEST(Info, WritesEveryFieldOfTheConfigurationAsJson) {
  const auto info = [](const std::string& model) {
    return nlohmann::ordered_json::parse(run({"info", "--json", golden(model)}).out);
  };
  const auto vit = info("timm_vit");
  for (const auto* field : {"width", "key_bias", "attention_norm", "mlp_norm", "rotary"})
    EXPECT_TRUE(vit["encoder"].contains(field)) << field;
  for (const auto* field : {"image", "patch", "channels", "conv_stem", "patch_norm"})
    EXPECT_TRUE(vit["input"].contains(field)) << field;
  for (const auto* field : {"classes", "outputs", "distilled", "unit_features", "pre_logits"})
    EXPECT_TRUE(vit["head"].contains(field)) << field;
  for (const auto* repeated : {"architecture", "image_height", "patch_width"})
    EXPECT_FALSE(vit["input"].contains(repeated)) << repeated;
  EXPECT_EQ(vit["encoder"]["norm_eps"].dump(), "1e-06");
  EXPECT_TRUE(vit["encoder"]["relative_bias"].is_null());
  const auto beit = info("families/beit");
  EXPECT_EQ(beit["encoder"]["relative_bias"]["kind"], "table");
  EXPECT_TRUE(beit["encoder"]["relative_bias"].contains("class_rows"));
}

TEST(Info, ListsTheTensorsInTheOrderOfTheForwardPass) {
  const std::string text = run({"info", "--tensors", golden("timm_vit")}).out;
  EXPECT_LT(text.find("  patch_embed.proj.weight    [48, 3, 16, 16]  f32\n"),
            text.find("  head.weight "));
}

TEST(Info, ListsTheClassesOnRequest) {
  const Finished finished = run({"info", "--labels", golden("hf_dinov2")});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, StartsWith("0\ttench\n1\tgoldfish\n"));
  const std::string file = golden("jax_npz") + "/vit.npz";
  const Finished none = run({"info", "--labels", file});
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, HasSubstr(file + ": has no labels\n"));
}

TEST(Info, TakesTheNumberOfHeads) {
  const std::string file = golden("torchvision_pth") + "/vit.pth";
  EXPECT_THAT(run({"info", "--heads", "6", file}).out, HasSubstr("6 heads of 8"));
  const Finished finished = run({"info", "--heads", "none", file});
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.err, HasSubstr("option '--heads' got 'none', expected a whole number from "
                                      "1 to 1024\n"));
}

TEST(ModelOption, MeansTheSameAsTheOperandInEveryCommandThatTakesBoth) {
  const Folder folder;
  const std::string model = golden("timm_vit");
  EXPECT_EQ(run({"info", "-m", model}).out, run({"info", model}).out);
  const auto heads = [&](const std::vector<std::string>& by) {
    std::vector<std::string> arguments{"heads", "--images", golden_image("timm_vit")};
    arguments.insert(arguments.end(), by.begin(), by.end());
    return run(arguments).out;
  };
  EXPECT_EQ(heads({"-m", model}), heads({model}));
  EXPECT_EQ(run({"convert", "-m", model, folder.path("a.safetensors")}).status, 0);
  EXPECT_EQ(run({"convert", model, folder.path("b.safetensors")}).status, 0);
  EXPECT_EQ(read_file(folder.path("a.safetensors")), read_file(folder.path("b.safetensors")));
  EXPECT_EQ(run({"info", "-m", model, model}).status, 2);
}

TEST(ModelOption, FallsBackToTheVariableInEveryCommand) {
  const Folder folder;
  const std::string model = golden("timm_vit"), image = golden_image("timm_vit");
  const auto run_with = [&](const std::vector<std::string>& arguments) {
    Call call;
    call.arguments = arguments;
    call.environment = {"VIT_MODEL=" + model};
    return run(call);
  };
  EXPECT_EQ(run_with({"info", "--json"}).out, run({"info", "--json", "-m", model}).out);
  EXPECT_EQ(run_with({"embed", image, "-o", "-"}).out,
            run({"embed", "-m", model, image, "-o", "-"}).out);
  EXPECT_EQ(run_with({"heads", "--images", image}).out,
            run({"heads", "-m", model, "--images", image}).out);
  EXPECT_EQ(run_with({"convert", folder.path("a.safetensors")}).status, 0);
  EXPECT_EQ(run({"convert", "-m", model, folder.path("b.safetensors")}).status, 0);
  EXPECT_EQ(read_file(folder.path("a.safetensors")), read_file(folder.path("b.safetensors")));
}

TEST(Info, SaysThatOneModelIsExpected) {
  EXPECT_THAT(run({"info", "a", "b"}).err,
              HasSubstr("vit: 2 models given, expected one at most: a folder, a weight "
                        "file or the name of a pulled model\n"));
}

TEST(ModelOption, FindsWhatHuggingFacesProgramsHaveDownloaded) {
  const Folder folder;
  const std::string repository = "hub/models--google--vit-base-patch16-224";
  folder.write(repository + "/refs/main", "c0ffee\n");
  for (const auto* name : {"config.json", "preprocessor_config.json", "model.safetensors"})
    folder.write(repository + "/snapshots/c0ffee/" + name,
                 read_file(golden("hf_vit") + "/" + name));
  Call call;
  call.environment = {"HF_HUB_CACHE=" + folder.path("hub"), "VIT_HOME=" + folder.path("home")};
  call.arguments = {"classify", "-m", "google/vit-base-patch16-224", golden_image("hf_vit")};
  const Finished answered = run(call);
  EXPECT_EQ(answered.status, 0) << answered.err;
  EXPECT_EQ(answered.out, run({"classify", "-m", golden("hf_vit"), golden_image("hf_vit")}).out);
  call.arguments = {"pull", "--offline", "google/vit-base-patch16-224"};
  EXPECT_THAT(run(call).out, HasSubstr("is in " + folder.path(repository)));
  call.arguments = {"models", "--pulled"};
  EXPECT_THAT(run(call).out, HasSubstr("google/vit-base-patch16-224  ["));
}

}  // namespace
}  // namespace vit::tools
