#include "weights/formats/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/weights/support.h"

namespace vit::weights {
namespace {

using test::Folder;
using test::npy;
using test::zip;
using testing::ElementsAre;
using testing::HasSubstr;

std::string floats(const std::vector<float>& values) {
  return test::bytes_of(values);
}

std::vector<float> read(const TensorFile& file, const std::string& name) {
  const Weight weight = file.tensors.at(name);
  std::vector<float> values(weight.size());
  weight.read_rows(0, weight.rows(), values.data());
  return values;
}

std::string complaint(const std::string& bytes) {
  const Folder folder;
  const auto path = folder.write("m.npz", bytes);
  return test::error_of(folder, [&] { read_tensor_file(path); });
}

TEST(Npz, ReadsStoredAndDeflatedArraysWithSlashesInTheirNames) {
  const Folder folder;
  for (const bool deflate : {false, true}) {
    for (const bool zip64 : {false, true}) {
      const auto path = folder.write(
          "m.npz", zip({{"Transformer/a.npy",
                         npy("<f4", "False", "(2, 3)", floats({0, 1, 2, 3, 4, 5})), deflate}},
                       zip64));
      const TensorFile file = read_tensor_file(path);
      EXPECT_EQ(file.tensors.at("Transformer/a").shape, (Shape{2, 3}));
      EXPECT_THAT(read(file, "Transformer/a"), ElementsAre(0, 1, 2, 3, 4, 5));
    }
  }
}

TEST(Npz, FortranOrderIsAnOrderOfStrides) {
  const Folder folder;
  const auto path = folder.write(
      "m.npz", zip({{"a.npy", npy("<f4", "True", "(2, 3)", floats({0, 3, 1, 4, 2, 5})), false}}));
  EXPECT_THAT(read(read_tensor_file(path), "a"), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Npz, TwoByteVoidsAreBfloat16) {
  const Folder folder;
  const std::string data = test::bytes_of(std::vector<std::uint16_t>{0x3f80, 0xc000});
  const auto path =
      folder.write("m.npz", zip({{"a.npy", npy("|V2", "False", "(2,)", data), false}}));
  EXPECT_THAT(read(read_tensor_file(path), "a"), ElementsAre(1.0f, -2.0f));
}

TEST(Npz, ReadsSingleNumbersAndLongHeaders) {
  const Folder folder;
  const std::string header = "{'shape': (), 'descr': \"<f8\", 'fortran_order': False}\n";
  const std::string array = std::string("\x93NUMPY\x02\x00", 8) +
                            test::bytes_of(static_cast<std::uint32_t>(header.size())) + header +
                            test::bytes_of(2.5);
  const auto path = folder.write("m.npz", zip({{"a.npy", array, false}}));
  EXPECT_THAT(read(read_tensor_file(path), "a"), ElementsAre(2.5f));
}

TEST(Npz, NeverReadsObjects) {
  EXPECT_EQ(complaint(zip({{"a.npy", npy("|O", "False", "(1,)", "cos\nsystem\n"), false}})),
            "m.npz: array 'a' holds Python objects, which could be programs; expected numbers");
}

TEST(Npz, NamesTheArrayAndWhatIsWrongWithIt) {
  const auto of = [](const std::string& array) {
    return complaint(zip({{"a.npy", array, false}}));
  };
  EXPECT_EQ(of(npy("<f4", "False", "(2,)", floats({1}))),
            "m.npz: array 'a' holds 4 bytes, expected 8 for shape [2]");
  EXPECT_EQ(of(npy(">f4", "False", "(1,)", floats({1}))),
            "m.npz: array 'a' has dtype '>f4', expected one of <f8, <f4, <f2, <i8, <i4, <i2, |i1, "
            "|u1, |b1 or |V2 (bfloat16)");
  EXPECT_EQ(of("hello"), "m.npz: array 'a' is not a NumPy array");
  EXPECT_EQ(of(npy("<f4", "Maybe", "(1,)", floats({1}))),
            "m.npz: array 'a' has a header that is not NumPy's");
  EXPECT_EQ(of(npy("<f4", "False", "(-1,)", floats({1}))),
            "m.npz: array 'a' has a header that is not NumPy's");
  EXPECT_EQ(of(npy("<f4", "False", "(1, 1, 1, 1, 1, 1, 1, 1, 1)", floats({1}))),
            "m.npz: array 'a' has more than 8 axes");
  EXPECT_EQ(of(npy("<f4", "False", "(4294967296, 4294967296, 4294967296)", floats({1}))),
            "m.npz: array 'a' has shape [4294967296, 4294967296, 4294967296], which is more than "
            "any file can hold");
}

TEST(Npz, RefusesAnArchiveCutShortAnywhere) {
  const std::string whole = zip({{"a.npy", npy("<f4", "False", "(2,)", floats({1, 2})), true},
                                 {"b.npy", npy("<f4", "False", "(2,)", floats({1, 2})), false}});
  ASSERT_EQ(complaint(whole), "");
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_THAT(complaint(whole.substr(0, length)), HasSubstr("m.npz: ")) << length;
}

TEST(Npz, SurvivesEveryChangedByte) {
  const std::string whole =
      zip({{"a.npy", npy("<f4", "False", "(2,)", floats({1, 2})), true}}, true);
  const Folder folder;
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string broken = whole;
    broken[at] = static_cast<char>(~broken[at]);
    const auto path = folder.write("m.npz", broken);
    test::error_of(folder, [&] { read_tensor_file(path); });  // an Error or none, never a crash
  }
}

TEST(Npz, RefusesAZipBombQuickly) {
  const std::string bomb =
      zip({{"a.npy", npy("<f4", "False", "(16777216,)", std::string(64 << 20, '\0')), true}});
  ASSERT_LT(bomb.size(), 100'000u);
  const test::Stopwatch watch;
  EXPECT_THAT(complaint(bomb), HasSubstr("would inflate the archive of"));
  EXPECT_LT(watch.seconds(), test::Stopwatch::kLimit);
}

TEST(Npz, RefusesEntriesThatDoNotMatchTheirChecksum) {
  std::string whole = zip({{"a.npy", npy("<f4", "False", "(2,)", floats({1, 2})), true}});
  const size_t directory = whole.find("PK\x01\x02");
  whole[directory + 16] = static_cast<char>(whole[directory + 16] ^ 1);
  EXPECT_EQ(complaint(whole), "m.npz: entry 'a.npy' does not match its checksum");
}

TEST(Npz, AnotherZipIsNoWeightFile) {
  EXPECT_EQ(complaint(zip({{"photo.txt", "hello", false}})),
            "m.npz: is a ZIP archive, but neither of PyTorch (no data.pkl) nor of NumPy (no .npy)");
}

}  // namespace
}  // namespace vit::weights
