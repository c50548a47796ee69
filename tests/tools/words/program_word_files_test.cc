/// Mistakes with classes in words: the messages, and that nothing is written.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/tools/words/words_call.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

class WordMistakes : public Words {
 protected:
  void SetUp() override { ASSERT_TRUE(has("hf_siglip")); }

  /// A copy of the model, for damage.
  std::string copied() {
    const std::string copy = folder.path("copy");
    fs::create_directories(copy);
    for (const auto* name :
         {"config.json", "model.safetensors", "preprocessor_config.json", "spiece.model"})
      fs::copy_file(fs::path(model) / name, fs::path(copy) / name);
    return copy;
  }
  Finished baked(const std::string& from, const std::string& labels) {
    return vit({"convert", "-m", from, "--labels", labels, folder.path("out.safetensors")});
  }
  void expect_nothing(const Finished& finished, int status, const std::string& message) {
    EXPECT_EQ(finished.status, status);
    EXPECT_THAT(finished.err, StartsWith("vit: " + message));
    EXPECT_EQ(finished.out, "");
    EXPECT_FALSE(fs::exists(folder.path("out.safetensors")));
  }
};

TEST_F(WordMistakes, WrongLabels) {
  expect_nothing(baked(model, "cat,,dog"), 2,
                 "option '--labels': label 2 of 3 is empty; remove it or name the class");
  expect_nothing(baked(model, "cat,dog,cat"), 2,
                 "option '--labels': label 3 is 'cat', as is label 1; labels must differ");
  expect_nothing(baked(model, "cat,d\xFFg"), 2, "option '--labels': label 2");
  const std::string gap = file("gap.txt", "cat\n\ndog\n");
  expect_nothing(baked(model, "@" + gap), 1, gap + ":2: the label is empty");
  const std::string empty = file("empty.txt", "\n");
  expect_nothing(baked(model, "@" + empty), 1, empty + ": no label given");
  const std::string twice = file("twice.txt", "cat\ndog\ncat\n");
  expect_nothing(baked(model, "@" + twice), 1,
                 twice + ": label 3 is 'cat', as is label 1; labels must differ");
  const std::string bytes = file("bytes.txt", "cat\nd\xFFg\n");
  expect_nothing(baked(model, "@" + bytes), 1, bytes + ": label 2");
  const std::string missing = folder.path("missing.txt");
  expect_nothing(baked(model, "@" + missing), 1, missing + ": ");
}

TEST_F(WordMistakes, WrongOptions) {
  const auto classify = [&](std::vector<std::string> more) {
    more.push_back(image(0));
    return on_model("classify", more);
  };
  expect_nothing(classify({"--labels", "cat", "--template", "a photo"}), 2,
                 "option '--template' got 'a photo', expected a sentence with {}");
  expect_nothing(classify({"--template", "a {}"}), 2,
                 "--template given without --labels, which names the classes");
  expect_nothing(classify({"--labels", "cat", "--none-of-these", "2"}), 2,
                 "option '--none-of-these' got '2', expected a cosine between -1 and 1");
  expect_nothing(classify({"--labels", "cat", "--none-of-these=-0.5"}), 1,
                 model + ": the threshold of 'none of these' is -0.5, expected a probability");
  expect_nothing(classify({"--labels", "cat,none of these", "--none-of-these=0.5"}), 2,
                 "--none-of-these adds the class 'none of these', which --labels has too");
}

TEST_F(WordMistakes, AModelWithoutTextTower) {
  expect_nothing(
      baked(golden("hf_vit"), "cat,dog"), 1,
      golden("hf_vit") + ": this model has no text tower; labels in words need a two-tower model");
}

TEST_F(WordMistakes, NamesOfClassesThatAreNotAsMany) {
  expect_nothing(baked(golden("hf_vit"), "cat,dog"), 1,
                 golden("hf_vit") +
                     ": this model has no text tower; labels in words need a two-tower model, such "
                     "as CLIP or SigLIP; as other names of its 10 classes, expected as many "
                     "labels, in their order, without prompts, got 2\n");
  const std::string with_prompts = file("prompts.txt", "0\t0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  expect_nothing(baked(golden("hf_vit"), with_prompts), 1,
                 golden("hf_vit") + ": this model has no text tower");
}

/// A model without a text tower keeps its answers and gets other names for them.
TEST_F(WordMistakes, NamesOfClassesOfAnyModel) {
  const std::string names = file("names.txt", "zero\none\ntwo\n3\n4\n5\n6\n7\n8\nnine\n");
  const auto classify = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--json", "-k", "10", "-m", golden("hf_vit"), golden_image("hf_vit")});
    more.insert(more.begin(), "classify");
    const Finished finished = vit(more);
    EXPECT_EQ(finished.status, 0) << finished.err;
    return nlohmann::json::parse(finished.out)["images"][0]["predictions"];
  };
  const auto own = classify({});
  for (const std::string& given : {names, "@" + names}) {
    const auto named = classify({"--labels", given});
    ASSERT_EQ(named.size(), own.size());
    for (size_t i = 0; i < own.size(); ++i) {
      EXPECT_EQ(named[i]["class"], own[i]["class"]);
      EXPECT_EQ(named[i]["probability"], own[i]["probability"]);
      const auto index = own[i]["class"].get<size_t>();
      EXPECT_EQ(named[i]["label"], index == 0   ? "zero"
                                   : index == 1 ? "one"
                                   : index == 2 ? "two"
                                   : index == 9 ? "nine"
                                                : std::to_string(index));
    }
  }
}

TEST_F(WordMistakes, NoTokenizerOrABrokenOne) {
  const std::string copy = copied();
  fs::remove(fs::path(copy) / "spiece.model");
  expect_nothing(baked(copy, "cat,dog"), 1, copy + ": no tokenizer beside the weights; expected ");
  std::ofstream(fs::path(copy) / "tokenizer.json") << "{\"model\": ";
  expect_nothing(baked(copy, "cat,dog"), 1, copy + "/tokenizer.json: ");
  fs::remove(fs::path(copy) / "tokenizer.json");
  std::ofstream(fs::path(copy) / "spiece.model", std::ios::binary) << "\x0A\xFF\xFF\xFF\x7F";
  expect_nothing(baked(copy, "cat,dog"), 1, copy + "/spiece.model: ");
}

/// Renames a tensor in the header of the copy's weights.
void rename_tensor(const fs::path& model, const std::string& from, const std::string& to) {
  std::string bytes = read_file((model / "model.safetensors").string());
  const size_t at = bytes.find("\"" + from + "\"");
  ASSERT_NE(at, bytes.npos);
  bytes.replace(at + 1, from.size(), to);
  std::ofstream(model / "model.safetensors", std::ios::binary) << bytes;
}

TEST_F(WordMistakes, ADamagedTextTowerIsNotTakenForNone) {
  const std::string copy = copied();
  rename_tensor(copy, "text_model.final_layer_norm.bias", "text_model.final_layer_norm.bios");
  expect_nothing(baked(copy, "cat,dog"), 1, copy + ": tensor 'norm.bias' is missing");
  expect_nothing(vit({"classify", "-m", copy, image(0)}), 1,
                 copy + ": this model has no classes of its own; name them in words");
}

TEST_F(WordMistakes, PromptsThatAreTooLongAreCutAndNamed) {
  std::string lengthy = "a dog";
  for (int i = 0; i < 80; ++i) lengthy += " and a dog";
  const std::string labels = file("long.txt", "cat\tcat\ndog\t" + lengthy + "\n");
  for (int run = 0; run < 2; ++run) {
    const Finished finished = on_model("classify", {"--labels", "@" + labels, "--json", image(0)});
    EXPECT_EQ(finished.status, 0);
    EXPECT_THAT(finished.err, HasSubstr("'" + lengthy + "': longer than the "));
    EXPECT_THAT(finished.err, HasSubstr(" tokens of the model; the end is left out\n"));
  }
  const Finished page =
      on_model("attention", {"--labels", "@" + labels, image(0), "-o", folder.path("a.html")});
  EXPECT_EQ(page.status, 0);
  EXPECT_EQ(page.err.find("longer than the "), page.err.rfind("longer than the ")) << page.err;
}

}  // namespace
}  // namespace vit::tools
