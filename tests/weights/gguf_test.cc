#include "weights/formats/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/weights/gguf_files.h"
#include "tests/weights/support.h"
#include "tests/weights/truth.h"
#include "weights/checkpoint.h"

namespace vit::weights {
namespace {

using test::bytes_of;
using test::Folder;
using test::Raw;
using test::RawMap;
using test::ggml::field;
using test::ggml::ggml;
using test::ggml::gguf;
using test::ggml::text;
using test::ggml::u32;
using test::ggml::u64;
using testing::HasSubstr;

std::string complaint(const std::string& bytes) {
  const Folder folder;
  const auto path = folder.write("m.gguf", bytes);
  return test::error_of(folder, [&] { read_tensor_file(path); });
}

const std::string kFloats = bytes_of(std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});

TEST(Gguf, ReadsTensorsFastestAxisFirst) {
  const Folder folder;
  const auto path = folder.write(
      "m.gguf", gguf({field("general.name", std::string("x"))}, {{"w", {4, 2}, 0, 0}}, kFloats));
  const TensorFile file = read_tensor_file(path);
  EXPECT_EQ(file.format, WeightFormat::kGguf);
  EXPECT_EQ(file.metadata.at("general.name"), "x");
  EXPECT_EQ(file.tensors.at("w").shape, (Shape{2, 4}));
  float row[4] = {};
  Weight(file.tensors.at("w")).read_rows(1, 1, row);
  EXPECT_EQ(row[3], 7.0f);
}

TEST(Gguf, ReadsQuantisedTensors) {
  const Folder folder;
  std::string data = bytes_of(std::uint16_t{0x3c00}) + std::string(32, '\3');  // scale 1, all 3
  data.resize(64);
  data += bytes_of(std::uint16_t{0x4000}) + std::string(16, '\x9a');  // scale 2, 10 and 9
  const auto path =
      folder.write("m.gguf", gguf({}, {{"a", {32, 1}, 8, 0}, {"b", {32, 1}, 2, 64}}, data));
  const TensorFile file = read_tensor_file(path);
  float values[32] = {};
  read_elements(file.tensors.at("a"), 0, 32, values);
  EXPECT_EQ(values[31], 3.0f);
  read_elements(file.tensors.at("b"), 0, 32, values);
  EXPECT_EQ(values[0], 4.0f);
  EXPECT_EQ(values[31], 2.0f);
}

TEST(Gguf, OpensAClipTowerUnderBothNamesOfItsMlp) {
  ModelConfig config = test::tiny_config();
  config.embedding.norm_before_blocks = true;
  config.embedding.patch_bias = false;
  config.head.head_bias = false;
  const RawMap truth = test::truth_of(config);
  for (const bool swapped : {false, true}) {
    const Folder folder;
    const RawMap raw = test::renamed(test::with_split_qkv(truth, "attn_q", "attn_k", "attn_v"),
                                     {{"^blocks", "v.blk"},
                                      {"norm1", "ln1"},
                                      {"norm2", "ln2"},
                                      {"attn\\.proj", "attn_out"},
                                      {"mlp\\.fc1", swapped ? "ffn_down" : "ffn_up"},
                                      {"mlp\\.fc2", swapped ? "ffn_up" : "ffn_down"},
                                      {"^patch_embed\\.proj", "v.patch_embd"},
                                      {"^cls_token", "v.class_embd"},
                                      {"^pos_embed", "v.position_embd.weight"},
                                      {"^norm_pre", "v.pre_ln"},
                                      {"^norm\\.", "v.post_ln."},
                                      {"^head", "visual_projection"}});
    const auto path =
        folder.write("m.gguf", gguf({field("clip.vision.attention.head_count", 3),
                                     text("clip.use_gelu") + u32(7) + std::string(1, '\1'),
                                     text("clip.vision.image_mean") + u32(9) + u32(6) + u64(3) +
                                         bytes_of(std::vector<float>{0.25f, 0.5f, 0.75f})},
                                    raw));
    const Checkpoint checkpoint = open(path);
    EXPECT_EQ(checkpoint.layout, "GGUF CLIP");
    EXPECT_EQ(checkpoint.config.encoder.heads, 3u);
    EXPECT_EQ(checkpoint.config.encoder.activation, Activation::kGelu);
    EXPECT_FLOAT_EQ(checkpoint.recipe.mean[2], 0.75f);
    test::expect_truth(checkpoint, truth);
  }
}

TEST(Gguf, OpensTimmNamesWithItsOwnHeadsAndLabels) {
  const Folder folder;
  const RawMap truth = test::truth_of(test::tiny_config());
  RawMap raw = truth;
  raw["patch_embed.proj.bias"].shape = {1, 24, 1, 1};
  std::vector<std::string> fields{field("num_attention_heads", 3)};
  for (int i = 0; i < 5; ++i)
    fields.push_back(field(std::to_string(i), "label " + std::to_string(i)));
  const Checkpoint checkpoint = open(folder.write("m.gguf", gguf(fields, raw)));
  EXPECT_EQ(checkpoint.config.encoder.heads, 3u);
  EXPECT_THAT(checkpoint.labels,
              testing::ElementsAre("label 0", "label 1", "label 2", "label 3", "label 4"));
  test::expect_truth(checkpoint, truth);
}

TEST(Gguf, RefusesBrokenFiles) {
  EXPECT_EQ(complaint(gguf({}, {{"w", {4, 2}, 0, 0}}, kFloats, 1)),
            "m.gguf: GGUF version 1, expected 2 or 3");
  EXPECT_EQ(complaint(gguf({}, {{"w", {4, 2}, 3, 0}}, kFloats)),
            "m.gguf: tensor 'w' has ggml type 3, expected f32, f16, bf16, q8_0 or q4_0");
  EXPECT_EQ(complaint(gguf({}, {{"w", {4, 2}, 0, 4}}, kFloats)),
            "m.gguf: tensor 'w' starts at byte 4, expected a multiple of 32");
  EXPECT_EQ(complaint(gguf({}, {{"w", {4, 3}, 0, 0}}, kFloats)),
            "m.gguf: tensor 'w' is cut short: 48 bytes from 0 on, the file holds 32");
  EXPECT_EQ(complaint(gguf({}, {{"v", {4, 2}, 0, 0}, {"w", {4, 2}, 0, 0}}, kFloats)),
            "m.gguf: tensor 'w' starts at byte 0, inside another one");
  EXPECT_EQ(complaint(gguf({}, {{"w", {33}, 8, 0}}, kFloats)),
            "m.gguf: tensor 'w' of shape [33] does not fill its blocks of 32");
  EXPECT_EQ(complaint(gguf({}, {{"w", {1, 1, 1, 1, 1}, 0, 0}}, kFloats)),
            "m.gguf: tensor 'w' has 5 axes, at most 4");
  EXPECT_THAT(complaint(gguf({}, {{"w", {1ull << 63, 1ull << 63}, 0, 0}}, kFloats)),
              HasSubstr("more than any file can hold"));
  EXPECT_EQ(complaint("GGUF" + u32(3) + u64(~0ull) + u64(0)),
            "m.gguf: 18446744073709551615 tensors, at most 100000");
  EXPECT_EQ(complaint("GGUF" + u32(3) + u64(0) + u64(~0ull)),
            "m.gguf: 18446744073709551615 fields, at most 10000");
  EXPECT_EQ(complaint("GGUF" + u32(3) + u64(0) + u64(1) + text("a") + u32(9) + u32(0) + u64(~0ull)),
            "m.gguf: a list of 18446744073709551615 values does not fit the file");
  EXPECT_THAT(complaint("GGUF" + u32(3) + u64(0) + u64(1) + u64(~0ull)), HasSubstr("a name of"));
}

TEST(Gguf, RefusesAFileCutShortAnywhere) {
  const std::string whole =
      gguf({field("a", 1), field("b", std::string("text"))}, {{"w", {4, 2}, 0, 0}}, kFloats);
  ASSERT_EQ(complaint(whole), "");
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_THAT(complaint(whole.substr(0, length)), HasSubstr("m.gguf: ")) << length;
}

TEST(Ggml, OpensWhatVitCppWrites) {
  const Folder folder;
  const RawMap truth = test::truth_of(test::tiny_config());
  RawMap raw = truth;
  raw["patch_embed.proj.bias"].shape = {1, 24, 1, 1};
  const auto path = folder.write("m.bin", ggml(raw, {"ant", "bee", "cat", "dog", "eel"}));
  const Checkpoint checkpoint = open(path);
  EXPECT_EQ(checkpoint.format, WeightFormat::kGgml);
  EXPECT_EQ(checkpoint.config.encoder.heads, 3u);
  EXPECT_THAT(checkpoint.labels, testing::ElementsAre("ant", "bee", "cat", "dog", "eel"));
  test::expect_truth(checkpoint, truth);
}

TEST(Ggml, RefusesAFileCutShortAnywhere) {
  const std::string whole = ggml({{"a", {{2}, {1, 2}}}, {"b", {{1, 2}, {1, 2}}}}, {"ant"});
  ASSERT_EQ(complaint(whole), "");
  size_t accepted = 0;
  for (size_t length = 0; length < whole.size(); ++length)
    accepted += complaint(whole.substr(0, length)).empty() ? 1 : 0;
  EXPECT_EQ(accepted, 2u);  // a cut after the labels or the first tensor cannot be noticed
}

TEST(Ggml, RefusesImpossibleCounts) {
  EXPECT_THAT(complaint("lmgg" + std::string(28, '\0') + u32(~0u)), HasSubstr("-1 labels"));
  EXPECT_THAT(complaint("lmgg" + std::string(32, '\0') + u32(9) + u32(1) + u32(0)),
              HasSubstr("9 axes"));
}

TEST(Formats, UnsupportedFormatsAreNamed) {
  const Folder folder;
  const auto of = [&](const std::string& name, const std::string& bytes) {
    const auto path = folder.write(name, bytes);
    return test::error_of(folder, [&] { read_tensor_file(path); });
  };
  EXPECT_EQ(of("m.onnx", "\x08\x07"),
            "m.onnx: ONNX files are not read, because exports rename and fold their weights; open "
            "the checkpoint it was exported from (safetensors, .pth, .npz or GGUF)");
  EXPECT_EQ(of("m.bin", "version https://git-lfs.github.com/spec/v1\n"),
            "m.bin: is a Git LFS pointer and not the weights; fetch them with 'git lfs pull'");
  EXPECT_EQ(
      of("m.h5", "\x89HDF\r\n"),
      "m.h5: is a Keras or TensorFlow file (HDF5), which is not read; look for the same model "
      "as safetensors");
  EXPECT_EQ(of("m.bin", "<!DOCTYPE html>"),
            "m.bin: is a web page and not the weights; the download went wrong");
  EXPECT_EQ(of("m.bin", "?"),
            "m.bin: is none of the weight formats this toolkit reads: safetensors, PyTorch (.pth, "
            ".pt, .bin), NumPy (.npz), GGUF and vit.cpp's ggml");
}

}  // namespace
}  // namespace vit::weights
