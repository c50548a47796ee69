#include "weights/formats/pth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>

#include "tests/weights/support.h"
#include "weights/formats/pickle.h"

namespace vit::weights {
namespace {

using test::Folder;
using test::zip;
using testing::ElementsAre;
using testing::HasSubstr;
namespace pickle = test::pickle;

std::vector<float> read(const TensorFile& file, const std::string& name) {
  const Weight weight = file.tensors.at(name);
  std::vector<float> values(weight.size());
  weight.read_rows(0, weight.rows(), values.data());
  return values;
}

/// An archive of this pickle and one storage of six numbers.
std::string archive(const std::string& content) {
  return zip({{"m/data.pkl", pickle::whole(content), false},
              {"m/data/0", test::bytes_of(std::vector<float>{0, 1, 2, 3, 4, 5}), false}});
}

TensorFile open_bytes(const Folder& folder, const std::string& bytes) {
  return read_tensor_file(folder.write("m.pth", bytes));
}

std::string complaint(const std::string& bytes) {
  const Folder folder;
  return test::error_of(folder, [&] { open_bytes(folder, bytes); });
}

const pickle::View kWhole{"0", 6, 0, {2, 3}, {3, 1}};

TEST(Pth, ReadsAStateDictionary) {
  const Folder folder;
  const TensorFile file = open_bytes(
      folder, test::pth({{"a.weight", {{2, 2}, {1, 2, 3, 4}}}, {"a.bias", {{2}, {5, 6}}}}));
  EXPECT_EQ(file.format, WeightFormat::kPyTorchZip);
  EXPECT_THAT(read(file, "a.weight"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(read(file, "a.bias"), ElementsAre(5, 6));
}

TEST(Pth, RespectsStridesOffsetsAndSharedStorages) {
  const Folder folder;
  const TensorFile file = open_bytes(
      folder, archive(pickle::dict({{"whole", pickle::tensor(kWhole)},
                                    {"turned", pickle::tensor({"0", 6, 0, {3, 2}, {1, 3}})},
                                    {"row", pickle::tensor({"0", 6, 3, {3}, {1}})},
                                    {"repeated", pickle::tensor({"0", 6, 5, {3}, {0}})}})));
  EXPECT_THAT(read(file, "whole"), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(read(file, "turned"), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(read(file, "row"), ElementsAre(3, 4, 5));
  EXPECT_THAT(read(file, "repeated"), ElementsAre(5, 5, 5));
}

TEST(Pth, FollowsWrappersAndPassesOverTheRest) {
  const Folder folder;
  const std::string junk = pickle::global("argparse", "Namespace") + ")\x81" +
                           pickle::dict({{"lr", "G" + test::bytes_of(1.0)}}) + "b";
  const std::string optimizer =
      pickle::dict({{"state", "}K\x01" + pickle::tensor(kWhole) + "s"}, {"groups", "]"}});
  const TensorFile file = open_bytes(
      folder, archive(pickle::dict({{"args", junk},
                                    {"optimizer", optimizer},
                                    {"epoch", "K\x05"},
                                    {"model", pickle::dict({{"w", pickle::tensor(kWhole)}})}})));
  ASSERT_EQ(file.tensors.size(), 1u);
  EXPECT_THAT(read(file, "model.w"), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Pth, ReadsParametersAndWholeModules) {
  const Folder folder;
  const std::string parameter = pickle::global("torch._utils", "_rebuild_parameter") +
                                pickle::tuple({pickle::tensor(kWhole), "\x88", "}"}) + "R";
  const std::string module = pickle::global("mymodels", "Head") + ")\x81" +
                             pickle::dict({{"training", "\x89"},
                                           {"_parameters", pickle::dict({{"weight", parameter}})},
                                           {"_modules", "}"}}) +
                             "b";
  const std::string root = pickle::global("mymodels", "Net") + ")\x81" +
                           pickle::dict({{"_modules", pickle::dict({{"head", module}})}}) + "b";
  const TensorFile file = open_bytes(folder, archive(root));
  EXPECT_THAT(read(file, "head.weight"), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Pth, ReadsScriptedModules) {
  const Folder folder;
  const std::string inner = pickle::global("__torch__.clip", "Visual") + ")\x81" +
                            pickle::dict({{"proj", pickle::tensor(kWhole)}}) + "b";
  const std::string root = pickle::global("__torch__.clip", "Model") + ")\x81" +
                           pickle::dict({{"training", "\x89"}, {"visual", inner}}) + "b";
  EXPECT_THAT(read(open_bytes(folder, archive(root)), "visual.proj"),
              ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Pth, ReadsEveryStorageType) {
  const Folder folder;
  const std::pair<const char*, DType> types[] = {
      {"DoubleStorage", DType::kF64},    {"HalfStorage", DType::kF16},
      {"BFloat16Storage", DType::kBf16}, {"LongStorage", DType::kI64},
      {"IntStorage", DType::kI32},       {"ShortStorage", DType::kI16},
      {"CharStorage", DType::kI8},       {"ByteStorage", DType::kU8},
      {"BoolStorage", DType::kBool}};
  for (const auto& [name, dtype] : types) {
    const TensorFile file = open_bytes(
        folder, archive(pickle::dict({{"x", pickle::tensor({"0", 1, 0, {1}, {1}, name})}})));
    EXPECT_EQ(file.tensors.at("x").dtype, dtype) << name;
  }
}

TEST(Pth, ReadsFilesFromBeforePytorch16) {
  const Folder folder;
  const std::string content = pickle::dict({{"w", pickle::tensor(kWhole, true)}});
  const std::string file_bytes = test::legacy_pth(content, {0, 1, 2, 3, 4, 5});
  const TensorFile file = open_bytes(folder, file_bytes);
  EXPECT_EQ(file.format, WeightFormat::kLegacyPyTorch);
  EXPECT_THAT(read(file, "w"), ElementsAre(0, 1, 2, 3, 4, 5));
  for (size_t length = 0; length < file_bytes.size(); ++length)
    EXPECT_THAT(complaint(file_bytes.substr(0, length)), HasSubstr("m.pth: ")) << length;
}

TEST(Pth, RefusesPicklesThatWouldRunPrograms) {
  const std::string attack =
      pickle::global("os", "system") + pickle::tuple({pickle::text("echo owned")}) + "R";
  EXPECT_EQ(
      complaint(archive(attack)),
      "m.pth: its pickle asks Python to run os.system, which no weight file needs; it was not "
      "run, and the file is refused");
  for (const auto& [module, name] : {std::pair{"builtins", "eval"},
                                     {"posix", "system"},
                                     {"subprocess", "Popen"},
                                     {"builtins", "getattr"},
                                     {"importlib", "import_module"},
                                     {"os.path", "join"}})
    EXPECT_THAT(complaint(archive(pickle::global(module, name) + ")R")), HasSubstr("was not run"));
}

TEST(Pth, RefusesViewsBeyondTheirStorage) {
  const auto of = [](const pickle::View& view) {
    return complaint(archive(pickle::dict({{"x", pickle::tensor(view)}})));
  };
  EXPECT_EQ(of({"0", 6, 0, {7}, {1}}),
            "m.pth: tensor 'x' of shape [7] reaches beyond its storage of 6 numbers");
  EXPECT_EQ(of({"0", 6, 1, {2, 3}, {3, 1}}),
            "m.pth: tensor 'x' of shape [2, 3] reaches beyond its storage of 6 numbers");
  EXPECT_EQ(of({"0", 6, 0, {2}, {size_t{1} << 62}}),
            "m.pth: tensor 'x' of shape [2] reaches beyond its storage of 6 numbers");
  EXPECT_EQ(of({"0", 6, size_t{1} << 62, {1}, {1}}),
            "m.pth: tensor 'x' of shape [1] reaches beyond its storage of 6 numbers");
  EXPECT_EQ(of({"0", 6, 0, {2, 3}, {1}}), "m.pth: tensor 'x' has 2 sizes and 1 strides");
  EXPECT_EQ(of({"7", 6, 0, {1}, {1}}), "m.pth: tensor 'x' has no storage 'data/7'");
  EXPECT_THAT(of({"0", 6, 0, {size_t{1} << 40, size_t{1} << 40}, {0, 0}}),
              HasSubstr("more than any file can hold"));
}

TEST(Pth, RefusesAFileCutShortAnywhere) {
  const std::string whole = test::pth({{"a", {{2}, {1, 2}}}}, "model");
  ASSERT_EQ(complaint(whole), "");
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_THAT(complaint(whole.substr(0, length)), HasSubstr("m.pth: ")) << length;
}

TEST(Pth, SurvivesEveryChangedByteOfItsPickle) {
  const std::string content = pickle::whole(pickle::dict(
      {{"a", pickle::tensor(kWhole)}, {"b", pickle::global("collections", "OrderedDict") + ")R"}}));
  for (size_t at = 0; at < content.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string broken = content;
      broken[at] = static_cast<char>(value);
      try {  // an Error or none, never a crash
        named_tensors(read_pickle(std::as_bytes(std::span(broken)), "m"), "m");
      } catch (const Error&) {
      }
    }
  }
}

/// Hostile pickles end in an Error (or in nothing found) within a second.
void expect_harmless(const std::string& content) {
  const Folder folder;
  const test::Stopwatch watch;
  test::error_of(folder, [&] { open_bytes(folder, archive(content)); });
  EXPECT_LT(watch.seconds(), test::Stopwatch::kLimit);
}

TEST(Pth, DeepNestingDoesNotExhaustTheStack) {
  std::string nested;
  for (int i = 0; i < 300'000; ++i) nested += std::string("}") + pickle::text("k");
  nested += "N";
  for (int i = 0; i < 300'000; ++i) nested += "s";
  expect_harmless(nested);
  expect_harmless(std::string(1'000'000, '('));
  expect_harmless(std::string(1'000'000, ']'));
}

TEST(Pth, CyclesInTheMemoEnd) {
  expect_harmless("}q\x01" + pickle::text("me") + "h\x01s");
  expect_harmless("}q\x01(" + pickle::text("a") + "h\x01" + pickle::text("b") + "h\x01u");
}

TEST(Pth, SharedObjectsDoNotMultiply) {
  // Each level names the one before twice: 2^60 paths to the bottom.
  std::string laughs = "}q\x01";
  for (int i = 0; i < 60; ++i) {
    const std::string before(1, static_cast<char>(i + 1)), after(1, static_cast<char>(i + 2));
    laughs += "}q" + after + "(" + pickle::text("a") + "h" + before + pickle::text("b") + "h" +
              before + "u";
  }
  EXPECT_EQ(complaint(archive(laughs)),
            "m.pth: its pickle has more references than any weight file");
  expect_harmless(laughs);
}

TEST(Pth, CopiesOfAListDoNotMultiply) {
  std::string list = "](";
  for (int i = 0; i < 20'000; ++i) list += pickle::tuple({"K\x01", "K\x02"});
  list += "eq\x01";
  std::string content = list;
  for (int i = 0; i < 10'000; ++i)
    content += std::string("0") + pickle::global("collections", "OrderedDict") + "h\x01\x85R";
  EXPECT_THAT(complaint(archive(content)), HasSubstr("m.pth: its pickle"));
}

/// Every instruction that copies is charged for the bytes it copies.
TEST(Pth, TextsThatDoubleAreRefused) {
  // STACK_GLOBAL of two globals: each has the text of both.
  std::string doubling = pickle::global("a", "b") + "q\x01";
  for (int i = 0; i < 40; ++i) doubling += "h\x01h\x01\x93q\x01";
  EXPECT_EQ(complaint(archive(doubling)),
            "m.pth: its pickle names a class by something that is not text at byte 14");
}

TEST(Pth, CallsOverTheSameLongListAreRefused) {
  const std::string list = "](" + std::string(100'000, 'N') + "eq\x01";
  const auto repeated = [&](const std::string& call) {
    std::string content = list;
    for (int i = 0; i < 3'000; ++i) content += call + "0";
    return complaint(archive(content + "}"));
  };
  const std::string ordered = pickle::global("collections", "OrderedDict");
  const std::string typed = pickle::global("torch._tensor", "_rebuild_from_type_v2");
  const std::string expected = "m.pth: its pickle takes more memory than any weight file's";
  EXPECT_EQ(repeated(ordered + "h\x01\x85R"), expected);
  EXPECT_EQ(repeated(typed + "(" + ordered + "Nh\x01\x85tR"), expected);
  EXPECT_EQ(repeated(pickle::global("net", "Net") + ")\x81}(h\x01h\x01ub"), "");
}

TEST(Pth, LongNamesTimesManyTensorsAreRefused) {
  // 16 levels of two keys: 65,536 tensors, and each name has every level's 200 letters.
  std::string content = pickle::tensor(kWhole) + "q\x01";
  for (char level = 1; level <= 16; ++level) {
    const std::string before(1, level), after(1, static_cast<char>(level + 1));
    const std::string key(198, 'k');
    content += "}q" + after + "(" + pickle::text(key + "a") + "h" + before +
               pickle::text(key + "b") + "h" + before + "u";
  }
  EXPECT_EQ(complaint(archive(content)), "m.pth: the names in its pickle take more than 24 MB");
}

TEST(Pth, AHundredThousandTensorsAreRead) {
  const Folder folder;
  std::vector<std::pair<std::string, std::string>> items;
  for (size_t i = 0; i < 100'000; ++i)
    items.emplace_back("backbone.blocks." + std::to_string(i) + ".attn.qkv.weight",
                       pickle::tensor(kWhole));
  EXPECT_EQ(open_bytes(folder, archive(pickle::dict(items))).tensors.size(), 100'000u);
}

TEST(Pth, SaysWhatIsWrongWithAPickle) {
  EXPECT_EQ(complaint(archive("h\x05")),
            "m.pth: its pickle recalls object 5, which it never stored");
  EXPECT_EQ(complaint(archive("s")), "m.pth: its pickle takes from an empty stack at byte 3");
  EXPECT_EQ(complaint(archive("t")), "m.pth: its pickle has no mark at byte 3");
  EXPECT_EQ(complaint(archive("\xff")),
            "m.pth: its pickle has the unknown instruction 255 at byte 2");
  EXPECT_EQ(complaint(zip({{"m/data.pkl", "\x80\x02}", false}})),
            "m.pth: its pickle is cut short at byte 3");
}

TEST(Pth, BigEndianFilesAreRefused) {
  EXPECT_EQ(
      complaint(zip({{"m/data.pkl", pickle::whole("}"), false}, {"m/byteorder", "big", false}})),
      "m.pth: its numbers are big-endian");
}

}  // namespace
}  // namespace vit::weights
