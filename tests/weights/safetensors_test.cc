#include "weights/formats/safetensors.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "tests/weights/support.h"

namespace vit::weights {
namespace {

using test::Folder;
using test::safetensors;

constexpr const char* kOneFloat = R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";

/// What reading these bytes says.
std::string complaint(const std::string& bytes) {
  const Folder folder;
  const auto path = folder.write("m.safetensors", bytes);
  return test::error_of(folder, [&] { read_safetensors(path); });
}

std::string header_complaint(const std::string& header, size_t data = 4) {
  return complaint(safetensors(header, std::string(data, '\0')));
}

TEST(Safetensors, ReadsTensorsAndMetadataInPlace) {
  const Folder folder;
  const std::string header =
      R"( {"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]},)"
      R"("a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}  )";
  const auto path = folder.write(
      "m.safetensors", safetensors(header, test::bytes_of(std::vector<float>{1.0f, 2.0f, 3.0f})));
  const TensorFile file = read_safetensors(path);
  EXPECT_EQ(file.format, WeightFormat::kSafetensors);
  EXPECT_EQ(file.metadata.at("format"), "pt");
  ASSERT_EQ(file.tensors.size(), 2u);
  EXPECT_EQ(file.tensors.at("a").shape, Shape{});
  float values[2] = {};
  read_elements(file.tensors.at("b"), 0, 2, values);
  EXPECT_EQ(values[1], 3.0f);
}

TEST(Safetensors, AcceptsEmptyTensors) {
  const Folder folder;
  const auto path =
      folder.write("m.safetensors",
                   safetensors(R"({"e":{"dtype":"F16","shape":[0,7],"data_offsets":[0,0]}})", ""));
  EXPECT_EQ(read_safetensors(path).tensors.at("e").shape, (Shape{0, 7}));
}

TEST(Safetensors, KeepsTheFileApartFromWhatIsWrongWithATensor) {
  const Folder folder;
  const auto path = folder.write("m.safetensors", safetensors(R"({"x":{"shape":[1]}})", ""));
  try {
    read_safetensors(path);
    FAIL() << "accepted a tensor without dtype";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), path);
    EXPECT_EQ(error.reason(), "tensor 'x' has no dtype");
  }
}

TEST(Safetensors, RefusesAFileCutShortAtEveryByte) {
  const std::string whole = safetensors(kOneFloat, std::string(4, '\0'));
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_NE(complaint(whole.substr(0, length)).find("m.safetensors: "), std::string::npos)
        << length;
  EXPECT_EQ(complaint(whole), "");
}

TEST(Safetensors, SaysHowMuchIsMissing) {
  EXPECT_EQ(complaint("abc"), "m.safetensors: cut short: 3 bytes are not a safetensors file");
  EXPECT_EQ(complaint(test::bytes_of(std::uint64_t{50}) + "{}"),
            "m.safetensors: cut short: the header needs 50 bytes, the file holds 2");
  EXPECT_EQ(header_complaint(kOneFloat, 3),
            "m.safetensors: cut short: the tensors need 4 bytes, the file holds 3");
}

TEST(Safetensors, RefusesAHugeHeaderWithoutReadingIt) {
  EXPECT_EQ(complaint(test::bytes_of(std::numeric_limits<std::uint64_t>::max()) + "{}"),
            "m.safetensors: header of 18446744073709551615 bytes, at most 10000000");
}

TEST(Safetensors, RefusesBytesAfterTheLastTensor) {
  EXPECT_EQ(header_complaint(kOneFloat, 6), "m.safetensors: 2 bytes follow the last tensor");
}

TEST(Safetensors, RefusesOverlapsAndGaps) {
  EXPECT_EQ(
      header_complaint(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                       R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
                       12),
      "m.safetensors: tensor 'b' starts at byte 4 of the data, inside another one, expected 8");
  EXPECT_EQ(header_complaint(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                             R"("b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})",
                             12),
            "m.safetensors: tensor 'b' starts at byte 8 of the data, after a gap, expected 4");
}

TEST(Safetensors, RefusesOffsetsThatDoNotFitTheShape) {
  EXPECT_EQ(header_complaint(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})"),
            "m.safetensors: tensor 'x' has data_offsets [0, 4], expected 8 bytes for shape [2]");
  EXPECT_EQ(header_complaint(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})"),
            "m.safetensors: tensor 'x' has data_offsets [4, 0], expected 4 bytes for shape [1]");
}

TEST(Safetensors, RefusesShapesThatOverflow) {
  EXPECT_EQ(header_complaint(
                R"({"x":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,4]}})"),
            "m.safetensors: tensor 'x' has shape [4294967296, 4294967296, 4], which is more than "
            "any file "
            "can hold");
  EXPECT_EQ(
      header_complaint(R"({"x":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,4]}})"),
      "m.safetensors: header entry 'x.shape' has too many axes");
}

TEST(Safetensors, RefusesUnknownNumberFormats) {
  EXPECT_EQ(
      header_complaint(R"({"x":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]}})"),
      "m.safetensors: tensor 'x' has dtype F8_E4M3, expected one of F64, F32, F16, BF16, I64, "
      "I32, I16, I8, U8, BOOL");
}

TEST(Safetensors, RefusesNamesThatComeTwice) {
  EXPECT_EQ(header_complaint(R"({"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                             R"("x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})"),
            "m.safetensors: header entry 'x' comes twice");
  EXPECT_EQ(header_complaint(R"({"__metadata__":{"a":"1","a":"2"}})", 0),
            "m.safetensors: header entry '__metadata__.a' comes twice");
}

TEST(Safetensors, RefusesUnreadableNames) {
  EXPECT_EQ(header_complaint("{\"" + std::string(1001, 'x') + "\":{}}"),
            "m.safetensors: header entry '" + std::string(100, 'x') + "' has a name of 1001 bytes");
}

TEST(Safetensors, RefusesFieldsOfTheWrongKind) {
  EXPECT_EQ(header_complaint(R"({"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})"),
            "m.safetensors: header entry 'x.shape' is a negative number");
  EXPECT_EQ(header_complaint(R"({"x":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})"),
            "m.safetensors: header entry 'x.shape' is a fraction");
  EXPECT_EQ(header_complaint(R"({"x":{"dtype":7,"shape":[1],"data_offsets":[0,4]}})"),
            "m.safetensors: header entry 'x.dtype' is a number");
  EXPECT_EQ(header_complaint(R"({"__metadata__":{"a":1}})", 0),
            "m.safetensors: header entry '__metadata__.a' is a number");
  EXPECT_EQ(header_complaint(R"({"x":{"dtype":"F32","shape":[1]}})"),
            "m.safetensors: tensor 'x' has no pair of data_offsets");
  EXPECT_EQ(header_complaint(R"({"x":{"shape":[1],"data_offsets":[0,4]}})"),
            "m.safetensors: tensor 'x' has no dtype");
  EXPECT_EQ(header_complaint(R"({"x":{"dtype":"F32","data_offsets":[0,4]}})"),
            "m.safetensors: tensor 'x' has no shape");
  EXPECT_EQ(header_complaint("[1]"), "m.safetensors: the header is not a JSON object");
}

TEST(Safetensors, RefusesDeepNestingAndBrokenJson) {
  EXPECT_EQ(header_complaint(R"({"x":{"dtype":"F32","shape":)" + std::string(100000, '[')),
            "m.safetensors: header entry 'x.shape' is a list");
  EXPECT_EQ(header_complaint(R"({"x":)" + std::string(1000, '{')).substr(0, 25),
            "m.safetensors: header is ");
  EXPECT_NE(header_complaint(R"({"x")").find("m.safetensors: header is not valid JSON"),
            std::string::npos);
}

TEST(Safetensors, ReadsAModelInSeveralFiles) {
  const Folder folder;
  folder.write("model-1.safetensors", safetensors({{"a", {{1}, {1.0f}}}}));
  folder.write("model-2.safetensors", safetensors({{"b", {{1}, {2.0f}}}}));
  const auto index =
      folder.write("model.safetensors.index.json",
                   R"({"weight_map":{"a":"model-1.safetensors","b":"model-2.safetensors"}})");
  const TensorFile file = read_tensor_file(index);
  EXPECT_EQ(file.format, WeightFormat::kShardedSafetensors);
  float value = 0.0f;
  read_elements(file.tensors.at("b"), 0, 1, &value);
  EXPECT_EQ(value, 2.0f);
}

TEST(Safetensors, AnIndexCannotReachOutOfItsFolder) {
  const Folder folder;
  const auto complaint_about = [&](const std::string& index) {
    const auto path = folder.write("model.safetensors.index.json", index);
    return test::error_of(folder, [&] { read_tensor_file(path); });
  };
  EXPECT_EQ(
      complaint_about(R"({"weight_map":{"a":"../../etc/passwd"}})"),
      "model.safetensors.index.json: shard '../../etc/passwd' is not a file beside the index");
  EXPECT_EQ(complaint_about(R"({"weight_map":{"a":7}})"),
            "model.safetensors.index.json: the file of 'a' is not a string");
  EXPECT_EQ(complaint_about("{}"), "model.safetensors.index.json: has no weight_map");
  folder.write("one.safetensors", safetensors({{"b", {{1}, {2.0f}}}}));
  EXPECT_EQ(complaint_about(R"({"weight_map":{"a":"one.safetensors"}})"),
            "model.safetensors.index.json: tensor 'a' is not in one.safetensors");
}

}  // namespace
}  // namespace vit::weights
