#include "tests/fuzz/seeds.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/patch/image_files.h"
#include "tests/support/paths.h"
#include "tests/tools/batch/tar_builder.h"
#include "tests/weights/gguf_files.h"
#include "tests/weights/support.h"
#include "tests/weights/truth.h"
#include "weights/configs/self_description.h"

namespace vit::fuzz {
namespace {

namespace fs = std::filesystem;
namespace test = weights::test;
namespace pickle = weights::test::pickle;
using test::bytes_of;
using test::RawMap;
using Seeds = std::vector<std::string>;

/// A whole model in two kilobytes: short files are fuzzed fastest.
RawMap smallest_model() {
  ModelConfig config = test::tiny_config();
  config.encoder.width = 4;
  config.encoder.depth = 1;
  config.encoder.heads = config.encoder.key_value_heads = 2;
  config.encoder.mlp_width = 4;
  config.embedding.image_height = config.embedding.image_width = 4;
  config.embedding.patch_height = config.embedding.patch_width = 2;
  config.embedding.position_grid = {2, 2};
  config.head.classes = 2;
  return test::truth_of(config);
}

const RawMap& two_tensors() {
  static const RawMap tensors{{"a", test::numbered({2, 3})}, {"b", test::numbered({4})}};
  return tensors;
}

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The files of this name or ending beside the reference models.
Seeds of_goldens(const std::string& ending, size_t largest) {
  Seeds seeds;
  for (const auto& folder : fs::directory_iterator(vit::test::goldens())) {
    if (!folder.is_directory()) continue;
    for (const auto& file : fs::directory_iterator(folder.path()))
      if (file.path().string().ends_with(ending) && file.file_size() <= largest)
        seeds.push_back(read(file.path()));
  }
  return seeds;
}

void append(Seeds& seeds, const Seeds& more) {
  seeds.insert(seeds.end(), more.begin(), more.end());
}

const pickle::View kView{"0", 6, 0, {2, 3}, {3, 1}};

/// Pickles as training scripts write them, and malicious ones.
Seeds pickled_contents() {
  const std::string tensor = pickle::tensor(kView), ordered = "ccollections\nOrderedDict\n";
  return {
      pickle::dict({{"w", tensor}, {"part", pickle::tensor({"0", 6, 3, {3}, {1}})}}),
      pickle::dict({{"model", pickle::dict({{"module.w", tensor}})}, {"epoch", "K\x07"}}),
      ordered + "](" + pickle::tuple({pickle::text("w"), tensor}) + "e\x85R",
      ordered + ")R(" + pickle::text("w") + tensor + "u",
      pickle::global("torch._utils", "_rebuild_parameter") +
          pickle::tuple({tensor, "\x88", ordered + ")R"}) + "R",
      pickle::global("net", "Net") + ")\x81" + pickle::dict({{"_parameters", tensor}}) + "b",
      pickle::global("os", "system") + pickle::tuple({pickle::text("true")}) + "R",
      "}q\x01" + pickle::text("me") + "h\x01s",
      std::string("}") + pickle::text("k") + "}" + pickle::text("k") + "Nss",
      "(I1\nL2L\nF1.5\nG" + bytes_of(1.0) + "J\x01\x02\x03\x04\x8a\x02\x01\x02NC\x01xl",
      "\x95" + bytes_of(std::uint64_t{6}) + "\x8c\x01" + "a\x94\x8c\x01" + "b\x93",
      // What multiplies: texts of texts, dictionaries of long lists, attributes, storages.
      pickle::global("a", "b") + "q\x01h\x01h\x01\x93q\x01h\x01h\x01\x93",
      "](NNNNNNNNeq\x01" + ordered + "q\x02h\x01\x85R0h\x02h\x01\x85R",
      pickle::global("torch._tensor", "_rebuild_from_type_v2") + "(" + ordered + "N](" +
          pickle::tuple({pickle::text("w"), tensor}) + "e\x85tR",
      "}q\x01(" + pickle::text("k") + "h\x01uq\x02" + pickle::global("net", "Net") + ")\x81h\x02" +
          "bh\x02Q",
  };
}

std::string archive(const std::string& content, bool deflate) {
  return test::zip({{"m/data.pkl", pickle::whole(content), deflate},
                    {"m/data/0", bytes_of(std::vector<float>{0, 1, 2, 3, 4, 5}), deflate},
                    {"m/byteorder", "little", false}});
}

std::string text_of(const patch::test::Bytes& bytes) {
  return {bytes.begin(), bytes.end()};
}

}  // namespace

Seeds safetensors_seeds() {
  Seeds seeds{test::safetensors(two_tensors()), test::safetensors(smallest_model())};
  seeds.push_back(test::safetensors(
      R"({"__metadata__":{"format":"pt"},"x":{"dtype":"BF16","shape":[2,0],"data_offsets":[0,0]},)"
      R"("y":{"dtype":"I64","shape":[],"data_offsets":[0,8]}})",
      std::string(8, '\x01')));
  seeds.push_back(test::safetensors(
      R"({"x":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[8,4]}})", "1234"));
  seeds.push_back(test::safetensors(std::string(50, '[') + std::string(50, ']'), ""));
  return seeds;
}

Seeds index_seeds() {
  return {
      R"({"metadata":{"total_size":16},"weight_map":{"a":"a.safetensors","b":"b.safetensors"}})",
      R"({"weight_map":{"a":"../a.safetensors","b":7}})", R"({"weight_map":[]})"};
}

Seeds pickle_seeds() {
  Seeds seeds;
  for (const auto& content : pickled_contents()) seeds.push_back(pickle::whole(content));
  return seeds;
}

Seeds pth_seeds() {
  Seeds seeds{test::pth(two_tensors()), test::pth(smallest_model(), "state_dict")};
  for (const auto& content : pickled_contents()) {
    seeds.push_back(archive(content, false));
    seeds.push_back(archive(content, true));
  }
  return seeds;
}

Seeds legacy_pth_seeds() {
  Seeds seeds;
  pickle::View view = kView;
  seeds.push_back(
      test::legacy_pth(pickle::dict({{"w", pickle::tensor(view, true)}}), {0, 1, 2, 3, 4, 5}));
  for (const auto& content : pickled_contents())
    seeds.push_back(test::legacy_pth(content, {0, 1, 2, 3, 4, 5}));
  return seeds;
}

Seeds npy_seeds() {
  const std::string eight(8, '\x3c');
  Seeds seeds{test::npy("<f4", "False", "(2,)", eight),
              test::npy("<f2", "True", "(2, 2)", eight),
              test::npy("|V2", "False", "(2, 2)", eight),
              test::npy("<f8", "False", "()", eight),
              test::npy("|O", "False", "(1,)", eight),
              test::npy("<i4", "False", "(4294967296L, 4294967296L)", eight)};
  std::string second = seeds.front();
  second[6] = 2;
  second.insert(10, 2, '\0');
  seeds.push_back(second);
  return seeds;
}

Seeds npz_seeds() {
  const std::string bomb =
      test::npy("<f4", "False", "(262144,)", std::string(size_t{1} << 20, '\0'));
  return {test::npz(two_tensors()), test::npz(two_tensors(), true), test::npz(smallest_model()),
          test::zip({{"a.npy", npy_seeds().front(), true}}, true),
          test::zip({{"a.npy", bomb, true}})};
}

Seeds gguf_seeds() {
  using namespace test::ggml;
  const std::string list = text("l") + u32(9) + u32(8) + u64(2) + text("x") + text("y");
  const std::string data(64, '\x01');
  return {gguf({}, two_tensors()),
          gguf({field("heads", 2), field("general.alignment", 32), field("s", "t"), list},
               smallest_model()),
          gguf({}, {{"q", {32}, 8, 0}}, data), gguf({}, {{"q", {32, 2}, 2, 0}}, data),
          gguf({}, {{"b", {4, 2}, 30, 0}, {"c", {4}, 1, 32}}, data, 2)};
}

Seeds ggml_seeds() {
  using test::ggml::ggml;
  return {ggml(two_tensors(), {"ant"}),
          ggml(smallest_model(), {"ant", "bee", "cat", "dog", "eel"})};
}

Seeds config_seeds() {
  Seeds seeds = of_goldens("config.json", 10'000);
  seeds.push_back(
      R"({"model_cfg":{"embed_dim":8,"vision_cfg":{"image_size":32,"layers":1,"width":24,)"
      R"("patch_size":8}},"preprocess_cfg":{"mean":[0.5,0.5,0.5],"std":[0.5,0.5,0.5]}})");
  weights::ModelCard card{test::tiny_config(), {}, {"a", "b", "c", "d", "e"}, {"heads"}};
  seeds.push_back(nlohmann::json(weights::self_description(card)).dump());
  seeds.push_back(R"({"architecture":"vit_tiny_patch16_224","model_args":{"img_size":[[1,2],3]}})");
  return seeds;
}

Seeds self_description_seeds() {
  Seeds seeds;
  for (const size_t branches : {1, 2, 4096}) {
    weights::ModelCard card{test::tiny_config(), {}, {"a", "b", "c", "d", "e"}, {"heads"}};
    card.config.encoder.branches = branches;
    card.recipe.crop_height = card.recipe.crop_width = 32;
    seeds.push_back(nlohmann::json(weights::self_description(card)).dump());
    card.config.embedding.prefix = {PrefixToken::kClass, PrefixToken::kDistillation,
                                    PrefixToken::kRegister};
    card.config.head.distilled_head = true;
    card.config.encoder.attention = AttentionKind::kDifferential;
    seeds.push_back(nlohmann::json(weights::self_description(card)).dump());
  }
  return seeds;
}

Seeds image_seeds() {
  using namespace patch::test;
  const Bytes exif = exif_block(6, true), pixels(12, 7);
  const Bytes png = png_file(2, {{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}}, {8, 2});
  Bytes bmp{'B', 'M'};
  for (const unsigned value : {70u, 0u, 54u, 40u, 2u, 2u, 0x180001u, 0u, 16u, 0u, 0u, 0u, 0u})
    patch::test::append(bmp, little(value, 4));
  bmp.resize(70);
  Bytes webp;
  patch::test::append(webp, std::string_view("RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0\x2f\1\x40\0\0", 25));
  webp.resize(34);
  Seeds seeds;
  for (const Bytes& file :
       {flat_jpeg({9, 9, 9}), with_jpeg_exif(flat_jpeg({9}), exif), png,
        with_png_chunk(png, "eXIf", exif), with_png_chunk(png, "tEXt", {65, 0, 66}),
        tiff_file(pixels, 2, 2, 3), tiff_file(Bytes(16, 7), 2, 2, 4, {{338, 2}, {274, 3}}), bmp,
        webp, with_webp_exif(webp, 2, 2, exif)})
    seeds.push_back(text_of(file));
  seeds.push_back("GIF89a");
  fuzz::append(seeds, of_goldens("7x5.png", 2000));
  return seeds;
}

Seeds tar_seeds() {
  using namespace tools;
  const std::string one = tar_member("1.jpg", "one"), link(150, 'n');
  return {one + tar_member("d/", "", '5') + tar_member("2.png", "two", '0', "deep/er") + tar_end(),
          tar_member("././@LongLink", link + std::string(1, '\0'), 'L') + one,
          tar_member("pax", pax_record("path", "p.jpg") + pax_record("size", "3"), 'x') + one,
          tar_member("pax", pax_record("size", "18446744073709551104"), 'x') + one,
          tar_header("1.jpg", base_256(3), '0', "") + std::string(512, 'x') + one,
          lying_member("1.jpg", 0 - std::uint64_t{512}) + tar_end(),
          one + lying_member("x", 0 - std::uint64_t{1024}, 'g') + tar_end(),
          one.substr(0, 700)};
}

Seeds form_seeds() {
  const std::string type = "multipart/form-data; boundary=b\n";
  const std::string file =
      "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a;\\\"b.png\"\r\n"
      "Content-Type: image/png\r\n\r\nbytes\r\n";
  return {type + "preamble\r\n" + file + file + "--b--\r\n",
          type + file + "--b \t\r\nContent-Disposition: form-data; name=k\r\n\r\n3\r\n--b--",
          "multipart/form-data; charset=x; boundary=\"b\"\n" + file + "--b--",
          type + "--b\r\n\r\n\r\n--b\r\n\r\n--bytes\r\n--b--",
          type + file,
          type + "--b--",
          "multipart/form-data\n" + file};
}

}  // namespace vit::fuzz
