#include "weights/known/wordnet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/paths.h"
#include "weights/known/labels.h"

namespace vit::weights {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> ids_of(std::string_view name) {
  std::vector<std::string> ids;
  for (const Synset* synset : find_synsets(name)) ids.push_back(synset->id);
  return ids;
}

size_t classes_below(const char* id) {
  size_t classes = 0;
  for (const auto& known : imagenet1k_classes())
    classes += is_a(*find_synset(known.wordnet_id), *find_synset(id)) ? 1 : 0;
  return classes;
}

TEST(Wordnet, HasEveryClassBelowEntity) {
  EXPECT_EQ(classes_below("n00001740"), 1000u);
  EXPECT_EQ(classes_below("n02084071"), 118u) << "dogs are the classes 151 to 268";
  EXPECT_EQ(classes_below("n01503061"), 59u) << "birds";
  EXPECT_EQ(classes_below("n00015388"), 398u) << "animals are the first 398 classes";
  EXPECT_EQ(classes_below("n01440764"), 1u) << "a class is below itself";
}

TEST(Wordnet, FindsMeaningsByName) {
  EXPECT_THAT(ids_of("dog"), ElementsAre("n02084071"));
  EXPECT_THAT(ids_of("Domestic_Dog"), ElementsAre("n02084071"));
  EXPECT_THAT(find_synset("n02084071")->names,
              ElementsAre("dog", "domestic dog", "Canis familiaris"));
  EXPECT_THAT(ids_of("tabby cat"), ElementsAre("n02123045")) << "names of classes";
  EXPECT_THAT(ids_of("cat"), ElementsAre("n02121620")) << "no big cat";
  EXPECT_THAT(ids_of("car"), ElementsAre("n02958343")) << "no railway car";
  EXPECT_THAT(find_synset("n02127808")->names, ElementsAre("big cat", "cat"));
  EXPECT_THAT(ids_of("plant"), SizeIs(2)) << "flora and factories are equally likely";
  EXPECT_THAT(ids_of("crane"), SizeIs(2)) << "two classes";
  EXPECT_THAT(ids_of("unicorn"), IsEmpty());
  EXPECT_EQ(find_synset("n99999999"), nullptr);
}

TEST(Wordnet, ListsTheNamesAboveTheClasses) {
  const auto names = synset_names();
  EXPECT_TRUE(std::ranges::binary_search(names, "vehicle"));
  EXPECT_FALSE(std::ranges::binary_search(names, "tabby"));
}

TEST(Wordnet, ComesWithItsLicence) {
  std::ifstream file(test::source_dir() / "weights/known/data/imagenet1k_wordnet.txt");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, HasSubstr("WordNet 3.0 Copyright 2006 by Princeton University."));
}

TEST(Wordnet, IsWhatTheScriptMakes) {
  if (!std::filesystem::exists("/usr/share/wordnet/data.noun") ||
      std::system("command -v python3 >/dev/null") != 0)
    GTEST_SKIP() << "WordNet (Debian: wordnet-base) and python3 are not installed";
  const auto known = test::source_dir() / "weights/known";
  const std::string compare = "'" + (known / "make_wordnet.py").string() + "' --print | cmp - '" +
                              (known / "data/imagenet1k_wordnet.txt").string() + "'";
  EXPECT_EQ(std::system(compare.c_str()), 0);
}

}  // namespace
}  // namespace vit::weights
