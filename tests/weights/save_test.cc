#include "weights/save.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <limits>
#include <utility>

#include "tests/support/golden.h"
#include "tests/support/random_checkpoint.h"
#include "tests/weights/support.h"
#include "weights/configs/self_description.h"
#include "weights/known/architectures.h"
#include "weights/numbers.h"

namespace vit::weights {
namespace {

using test::error_of;
using test::Folder;
using testing::ElementsAre;
using testing::IsEmpty;

ModelConfig tiny(std::string_view architecture = "vit_tiny_patch16_224") {
  ModelConfig c = config_of(architecture);
  c.encoder.width = 48;
  c.encoder.heads = c.encoder.key_value_heads = 3;
  c.encoder.depth = 2;
  c.encoder.mlp_width = 96;
  c.embedding.image_height = 2 * c.embedding.patch_height;
  c.embedding.image_width = 3 * c.embedding.patch_width;
  c.embedding.position_grid = {3, 4};
  c.head.classes = std::min<size_t>(c.head.classes, 10);
  return c;
}

std::string bytes_in(const std::filesystem::path& path) {
  const auto bytes = vit::test::read_bytes(path);
  return {bytes.begin(), bytes.end()};
}

std::vector<float> numbers_of(const Weight& weight) {
  std::vector<float> numbers(weight.size());
  weight.read_rows(0, weight.rows(), numbers.data());
  return numbers;
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  return names;
}

/// Converts to a member of any type, to count the members of an aggregate.
struct Anything {
  template <typename T>
  operator T() const;
};
template <typename T, typename... Members>
constexpr size_t member_count() {
  if constexpr (requires { T{Members{}..., Anything{}}; })
    return member_count<T, Members..., Anything>();
  else
    return sizeof...(Members);
}

/// Every field that is written only if it differs from the default.
ModelCard with_all_fields() {
  ModelCard all;
  all.config.embedding.positions_keep_aspect = true;
  all.config.embedding.conv_stem = true;
  all.config.encoder.key_bias = false;
  all.config.encoder.rotary = {RotaryKind::kAxial, 0.1f, 1.0f, true, true, {3, 5}, true};
  all.config.encoder.relative_bias = {RelativeBiasKind::kTable,     false, true, 7, true, {2, 9},
                                      RelativeResampling::kBilinear};
  all.config.head.pooled_layers = 3;
  all.config.head.pool_heads = 8;
  all.config.head.pool_mlp_width = 9;
  all.config.head.class_layers = 2;
  all.config.head.class_mlp_width = 11;
  all.config.head.pre_logits_tanh = false;
  all.config.head.pre_logits_bias = false;
  all.config.head.unit_features = true;
  all.recipe.float_resize = true;
  all.recipe.crop_rounds_down = true;
  return all;
}

TEST(SelfDescription, WritesEveryMemberOfConfigAndRecipe) {
  const Metadata metadata = self_description(with_all_fields());
  constexpr size_t kOfParts = member_count<EmbeddingConfig>() + member_count<EncoderConfig>() - 2 +
                              member_count<RotaryConfig>() + member_count<RelativeBiasConfig>() +
                              member_count<HeadConfig>();
  EXPECT_EQ(nlohmann::json::parse(metadata.at("vit.config")).size(), 1 + kOfParts)
      << "the architecture's name and every member of the parts";
  EXPECT_EQ(nlohmann::json::parse(metadata.at("vit.recipe")).size(), member_count<Recipe>());
}

TEST(SelfDescription, GivesEveryArchitectureAndRecipeBack) {
  for (const auto& architecture : architectures()) {
    ModelCard written;
    written.config = config_of(architecture.name);
    written.recipe = architecture.recipe;
    const ModelCard read = read_self_description(self_description(written), "test");
    EXPECT_EQ(read.config, written.config) << architecture.name;
    EXPECT_EQ(read.recipe, written.recipe) << architecture.name;
  }
}

TEST(SelfDescription, GivesFieldsBackThatOnlySomeFilesHave) {
  const ModelCard written = with_all_fields();
  const ModelCard read = read_self_description(self_description(written), "test");
  EXPECT_EQ(read.config, written.config);
  EXPECT_EQ(read.recipe, written.recipe);
}

TEST(SelfDescription, WritesWhatEarlierVersionsReadWhereTheyCouldRunIt) {
  const auto object = nlohmann::json::parse(self_description({}).at("vit.config"));
  EXPECT_EQ(object.size(), 42u);
  EXPECT_FALSE(object.contains("rotary"));
}

TEST(SelfDescription, GivesUnusualNumbersAndTextsBack) {
  ModelCard written;
  written.config.architecture = "ein \"Modell\"\n 猫";
  written.config.embedding.prefix = {PrefixToken::kRegister, PrefixToken::kDistillation,
                                     PrefixToken::kClass};
  written.config.embedding.position_grid = {7, 9};
  written.recipe.mean = {std::nextafter(0.1f, 1.0f), 1.0f / 3.0f, -0.0f};
  written.recipe.crop_fraction = 1.0 / 3.0;
  written.labels = {"", "a, b", "\t", "ü"};
  written.assumptions = {"none"};
  for (float eps = 1e-12f; eps < 1.0f; eps = std::nextafter(eps * 1.37f, 1.0f)) {
    written.config.encoder.norm_eps = eps;
    const ModelCard read = read_self_description(self_description(written), "test");
    ASSERT_EQ(read.config, written.config);
    ASSERT_EQ(read.recipe, written.recipe);
    ASSERT_EQ(read.labels, written.labels);
    ASSERT_EQ(read.assumptions, written.assumptions);
  }
}

std::string refusal(Metadata metadata) {
  try {
    read_self_description(metadata, "m.safetensors");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SelfDescription, RefusesAnotherFormat) {
  Metadata metadata = self_description({});
  metadata["vit.format"] = "2";
  EXPECT_EQ(refusal(metadata),
            "m.safetensors: is of format '2', this toolkit reads '1'; use the version of the "
            "toolkit that wrote it, or a newer one");
}

TEST(SelfDescription, NamesTheFieldThatIsWrong) {
  const Metadata good = self_description({});
  const auto changed = [&](const std::string& entry, const std::string& field,
                           const nlohmann::json& value) {
    Metadata metadata = good;
    auto object = nlohmann::json::parse(metadata.at(entry));
    if (value.is_discarded())
      object.erase(field);
    else
      object[field] = value;
    metadata[entry] = object.dump();
    return refusal(metadata);
  };
  const nlohmann::json nothing(nlohmann::json::value_t::discarded);
  EXPECT_EQ(changed("vit.config", "width", nothing),
            "m.safetensors: metadata 'vit.config': field 'width' is missing");
  EXPECT_EQ(changed("vit.config", "colour", 1),
            "m.safetensors: metadata 'vit.config': unknown field 'colour'");
  EXPECT_EQ(changed("vit.config", "norm", "batch"),
            "m.safetensors: metadata 'vit.config': field 'norm' is \"batch\", expected "
            "layer_norm or rms_norm");
  EXPECT_EQ(changed("vit.recipe", "mean", {1, 2}),
            "m.safetensors: metadata 'vit.recipe': field 'mean' is [1,2], expected three numbers");
  Metadata without = good;
  without.erase("vit.labels");
  EXPECT_EQ(refusal(without), "m.safetensors: metadata 'vit.labels' is missing");
}

TEST(Save, GivesEveryArchitectureBackFromItsFile) {
  const Folder folder;
  for (const auto& architecture : architectures()) {
    Checkpoint written = vit::test::random_checkpoint(tiny(architecture.name));
    written.recipe = architecture.recipe;
    save(folder.path("m.safetensors"), written);
    const Checkpoint read = open(folder.path("m.safetensors"));
    ASSERT_EQ(read.config, written.config) << architecture.name;
    ASSERT_EQ(read.recipe, written.recipe);
    ASSERT_EQ(read.layout, "vit");
    ASSERT_THAT(read.unused, IsEmpty());
    ASSERT_EQ(read.weights().size(), written.weights().size());
    for (const auto& [name, weight] : written.weights()) {
      ASSERT_EQ(read.at(name).shape(), weight.shape()) << name;
      ASSERT_EQ(numbers_of(read.at(name)), numbers_of(weight)) << name;
    }
  }
}

TEST(Save, KeepsHowManyLayersTheClassifierReads) {
  const Folder folder;
  Checkpoint written = vit::test::random_checkpoint(tiny());
  written.config.head.pooled_norm = true;  // of one layer's features
  written.config.head.pooled_layers = written.config.encoder.depth;
  written = vit::test::random_checkpoint(written.config);
  const size_t width = written.config.encoder.width;
  EXPECT_EQ(written.at("fc_norm.weight").shape(), Shape{width});
  EXPECT_EQ(written.at("head.weight").shape().back(), written.config.encoder.depth * width);
  save(folder.path("m.safetensors"), written);
  EXPECT_EQ(open(folder.path("m.safetensors")).config, written.config);
}

TEST(Save, WritesTheSameBytesEachTimeAndFromItsOwnFile) {
  const Folder folder;
  Checkpoint model = vit::test::random_checkpoint(tiny());
  model.labels.assign(10, "a \"label\"");
  model.assumptions = {"8 heads"};
  for (const auto dtype : {DType::kF32, DType::kF16, DType::kBf16}) {
    save(folder.path("1"), model, {.dtype = dtype, .metadata = {{"epoch", "7"}}});
    save(folder.path("2"), model, {.dtype = dtype, .metadata = {{"epoch", "7"}}});
    const Checkpoint again = open(folder.path("1"));
    EXPECT_EQ(lossless_dtype(again), dtype);
    save(folder.path("3"), again, {.dtype = dtype});
    EXPECT_EQ(bytes_in(folder.path("1")), bytes_in(folder.path("2")));
    EXPECT_EQ(bytes_in(folder.path("1")), bytes_in(folder.path("3")));
  }
}

TEST(Save, BeginsTheNumbersOnACacheLine) {
  const Folder folder;
  for (const auto* name : {"a", "ab", "abc"}) {
    ModelConfig config = tiny();
    config.architecture = name;
    save(folder.path("m"), vit::test::random_checkpoint(config));
    const auto length =
        load<std::uint64_t>(reinterpret_cast<const std::byte*>(bytes_in(folder.path("m")).data()));
    EXPECT_EQ((length + 8) % 64, 0u);
  }
}

TEST(Save, RoundsTheKernelsAndNothingElse) {
  const Folder folder;
  const Checkpoint model = vit::test::random_checkpoint(tiny());
  save(folder.path("m"), model, {.dtype = DType::kBf16});
  const Checkpoint read = open(folder.path("m"));
  for (const auto& [name, weight] : read.weights()) {
    const bool kernel = name.ends_with(".weight") && weight.shape().size() >= 2;
    EXPECT_EQ(weight.parts().front().dtype, kernel ? DType::kBf16 : DType::kF32) << name;
    const auto exact = numbers_of(model.at(name)), stored = numbers_of(weight);
    for (size_t i = 0; i < exact.size(); ++i)
      ASSERT_EQ(stored[i], kernel ? float_of_bf16(bf16_of_float(exact[i])) : exact[i]) << name;
  }
}

TEST(Save, RefusesANumberThatHalfPrecisionCannotHold) {
  const Folder folder;
  const ModelConfig config = tiny();
  WeightMap weights = vit::test::random_checkpoint(config).weights();
  std::vector<std::vector<float>> storage;
  storage.reserve(weights.size());
  for (auto& [name, weight] : weights) {
    storage.emplace_back(weight.size(), 70000.0f);
    weight = Tensor{DType::kF32, weight.shape(), contiguous_strides(weight.shape()),
                    reinterpret_cast<const std::byte*>(storage.back().data())};
  }
  const auto save_as = [&](DType dtype) {
    return error_of(folder, [&] {
      save(folder.path("m"), {.config = config, .recipe = {}, .labels = {}}, weights,
           {.dtype = dtype});
    });
  };
  EXPECT_EQ(save_as(DType::kF16),
            "m: tensor 'patch_embed.proj.weight' holds 70000, more than f16 can; save it as bf16 "
            "or f32");
  EXPECT_THAT(names_in(folder.path()), IsEmpty());
  EXPECT_EQ(save_as(DType::kBf16), "");
}

TEST(Save, NamesTheTensorThatIsMissingOrTooMany) {
  const Folder folder;
  const ModelConfig config = tiny();
  const Checkpoint model = vit::test::random_checkpoint(config);
  WeightMap weights = model.weights();
  const auto save_it = [&] {
    save(folder.path("m"), {.config = config, .recipe = {}, .labels = {}}, weights);
  };
  weights.emplace("blocks.0.extra", model.at("norm.weight"));
  EXPECT_EQ(error_of(folder, save_it), "m: tensor 'blocks.0.extra' is none of the model's");
  weights.erase("blocks.0.extra");
  weights.erase("norm.weight");
  EXPECT_EQ(error_of(folder, save_it), "m: tensor 'norm.weight' is missing");
  EXPECT_THAT(names_in(folder.path()), IsEmpty());
}

TEST(Save, RefusesLabelsThatDoNotFitAndEntriesThatAreOurs) {
  const Folder folder;
  Checkpoint model = vit::test::random_checkpoint(tiny());
  const auto with = [&](const Metadata& metadata) {
    return error_of(folder, [&] {
      save(folder.path("m"), model, {.dtype = DType::kF32, .metadata = metadata});
    });
  };
  EXPECT_EQ(with({{"vit.config", "{}"}}),
            "m: metadata 'vit.config' belongs to the format, choose another name");
  model.labels = {"one"};
  EXPECT_EQ(with({}), "m: 1 labels for 10 classes");
  model.labels.clear();
  model.wordnet_ids = {"n01443537"};
  EXPECT_EQ(with({}), "m: 1 WordNet ids for 10 classes");
}

TEST(Save, KeepsTheWordnetIdsOfTheClasses) {
  const Folder folder;
  Checkpoint model = vit::test::random_checkpoint(tiny());
  for (int i = 0; i < 10; ++i) model.wordnet_ids.push_back("n0144353" + std::to_string(i));
  save(folder.path("m"), model);
  const Checkpoint read = open(folder.path("m"));
  EXPECT_EQ(read.wordnet_ids, model.wordnet_ids);
  save(folder.path("again"), read);
  EXPECT_EQ(open(folder.path("again")).wordnet_ids, model.wordnet_ids);
}

TEST(Save, SaysWhyItCannotWriteAndLeavesNothing) {
  const Folder folder;
  const Checkpoint model = vit::test::random_checkpoint(tiny());
  const auto save_to = [&](const std::filesystem::path& path) {
    return error_of(folder, [&] { save(path, model); });
  };
  EXPECT_EQ(save_to(folder.path("none/m")), "none/m: cannot write: No such file or directory");
  std::filesystem::create_directory(folder.path("f"));
  EXPECT_EQ(save_to(folder.path("f")), "f: is a folder, expected a file name");
  EXPECT_EQ(save_to("/dev/null"), "/dev/null: is not a regular file");
}

/// A limit on the size of files stands for a full disk: the same call fails.
TEST(Save, LeavesTheOldFileWhenTheDiskIsFull) {
  const Folder folder;
  const Checkpoint model = vit::test::random_checkpoint(tiny());
  folder.write("m", "old");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{65536, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string message = error_of(folder, [&] { save(folder.path("m"), model); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(message, testing::MatchesRegex("m: cannot write [0-9]+ bytes: File too large"));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("m"));
  EXPECT_EQ(bytes_in(folder.path("m")), "old");
}

TEST(HalfNumbers, AreTheNearestAndTheEvenOfTwo) {
  for (std::uint32_t i = 0; i < 0x7c00; ++i) {
    const auto half = static_cast<std::uint16_t>(i);
    const float low = float_of_f16(half);
    ASSERT_EQ(f16_of_float(low), half);
    ASSERT_EQ(f16_of_float(-low), half | 0x8000);
    const float high = i == 0x7bff ? 65536.0f : float_of_f16(static_cast<std::uint16_t>(i + 1));
    const float middle = (low + high) / 2.0f;
    ASSERT_EQ(f16_of_float(middle), i % 2 == 0 ? i : i + 1);
    ASSERT_EQ(f16_of_float(std::nextafter(middle, 0.0f)), i);
    ASSERT_EQ(f16_of_float(std::nextafter(middle, 1e9f)), i + 1);
  }
  EXPECT_EQ(f16_of_float(std::numeric_limits<float>::infinity()), 0x7c00);
  EXPECT_TRUE(std::isnan(float_of_f16(f16_of_float(std::nanf("")))));
}

TEST(Bf16Numbers, AreTheNearestAndTheEvenOfTwo) {
  for (std::uint32_t i = 0x0080; i < 0x7f7f; ++i) {
    const auto half = static_cast<std::uint16_t>(i);
    const float middle = std::bit_cast<float>(i << 16 | 0x8000u);
    ASSERT_EQ(bf16_of_float(float_of_bf16(half)), half);
    ASSERT_EQ(bf16_of_float(middle), i % 2 == 0 ? i : i + 1);
    ASSERT_EQ(bf16_of_float(std::nextafter(middle, 0.0f)), i);
    ASSERT_EQ(bf16_of_float(std::nextafter(middle, std::numeric_limits<float>::max())), i + 1);
  }
  EXPECT_TRUE(std::isnan(float_of_bf16(bf16_of_float(std::nanf("")))));
}

}  // namespace
}  // namespace vit::weights
