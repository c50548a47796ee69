#include "tools/cli/class_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vit/base/error.h"
#include "weights/known/labels.h"

namespace vit::tools {
namespace {

using testing::HasSubstr;
using testing::Optional;

const ClassNames& pets() {
  static const ClassNames names("pets", {"tabby, tabby cat", "Golden Retriever", "guinea_pig"}, 3);
  return names;
}

const ClassNames& imagenet() {
  static const ClassNames names("deit", weights::imagenet1k_labels(), 1000);
  return names;
}

TEST(ClassNames, MatchByNameWhateverItsCaseAndGaps) {
  EXPECT_THAT(pets().find("golden retriever"), Optional(1u));
  EXPECT_THAT(pets().find("Golden_Retriever"), Optional(1u));
  EXPECT_THAT(pets().find("GUINEA-PIG"), Optional(2u));
  EXPECT_THAT(pets().find("tabby, tabby cat"), Optional(0u));
  EXPECT_THAT(pets().find("tabby cat"), Optional(0u));
  EXPECT_THAT(pets().find("tabby"), Optional(0u));
  EXPECT_EQ(pets().find("golden"), std::nullopt);
  EXPECT_EQ(pets().find(""), std::nullopt);
}

TEST(ClassNames, SuggestByMeaningBeforeLetters) {
  EXPECT_EQ(imagenet().suggestion("cat"),
            "; kinds of cat are tabby, tiger cat, Persian cat, Siamese cat, Egyptian cat, … (7)");
  EXPECT_EQ(imagenet().suggestion("Cats"),
            "; kinds of Cat are tabby, tiger cat, Persian cat, Siamese cat, Egyptian cat, … (7)");
  EXPECT_EQ(imagenet().suggestion("cart wheel"), "; did you mean 'car wheel'?") << "letters";
  EXPECT_EQ(pets().suggestion("cat"), "; a kind of cat is tabby, tabby cat");
  const ClassNames own("own", {"animal", "cat", "truck"}, 3);
  EXPECT_EQ(own.suggestion("tabby"), "; it is a kind of 'cat'") << "the nearest of two";
  EXPECT_EQ(own.suggestion("ambulance"), "") << "a car, and no truck";
  EXPECT_THAT(imagenet().explain("cat"),
              HasSubstr("'cat' is not a class of deit by name, WordNet id or index (0 to 999); "
                        "kinds of cat are tabby, "));
}

TEST(ClassNames, MatchByTheWordnetIdsThatTheModelStores) {
  const ClassNames own("own", {"car", "alligator", "thing"}, 3,
                       {"n04285008", "n01698640", "n99999999"});
  EXPECT_THAT(own.find("n04285008"), Optional(0u));
  EXPECT_THAT(own.find("n01698640_American_alligator"), Optional(1u));
  EXPECT_THAT(own.find("sports car"), Optional(0u)) << "ImageNet's name for the id";
  EXPECT_THAT(own.find("n99999999"), Optional(2u)) << "of no ImageNet class";
  EXPECT_EQ(own.find("n01443537"), std::nullopt);
  ASSERT_NE(own.meaning(1), nullptr);
  EXPECT_EQ(own.meaning(1), imagenet().meaning(50));
}

TEST(ClassNames, MatchByIndexAfterNames) {
  EXPECT_THAT(pets().find("0"), Optional(0u));
  EXPECT_THAT(pets().find("002"), Optional(2u));
  EXPECT_EQ(pets().find("3"), std::nullopt);
  EXPECT_EQ(pets().find("-1"), std::nullopt);
  EXPECT_EQ(pets().find("1x"), std::nullopt);
  const ClassNames digits("digits", {"1", "0"}, 2);
  EXPECT_THAT(digits.find("0"), Optional(1u)) << "the label called 0, not the class of index 0";
}

TEST(ClassNames, MatchByWordnetId) {
  EXPECT_THAT(imagenet().find("n01440764"), Optional(0u));
  EXPECT_THAT(imagenet().find("n01440764_tench"), Optional(0u));
  EXPECT_THAT(imagenet().find("n15075141"), Optional(999u));
  EXPECT_THAT(imagenet().find("Tinca tinca"), Optional(0u)) << "ImageNet's other name";
  EXPECT_EQ(imagenet().find("n99999999"), std::nullopt);
  EXPECT_EQ(imagenet().find("n014407645"), std::nullopt);
  const ClassNames without_labels("m", {}, 1000);
  EXPECT_THAT(without_labels.find("n01443537"), Optional(1u));
}

TEST(ClassNames, MatchByWordnetIdWhereTheOrderIsNotImageNets) {
  const ClassNames fish("fish", {"goldfish", "tench"}, 2);
  EXPECT_THAT(fish.find("n01440764"), Optional(1u));
  EXPECT_EQ(fish.find("n01484850"), std::nullopt) << "no shark among them";
  const ClassNames ids("ids", {"n01443537", "n01440764"}, 2);
  EXPECT_THAT(ids.find("n01440764_tench"), Optional(1u));
}

TEST(ClassNames, RefuseANameOfSeveralClasses) {
  EXPECT_THAT(imagenet().find("n02012849"), Optional(134u));
  EXPECT_THAT(imagenet().find("n03126707"), Optional(517u));
  try {
    imagenet().find("crane");
    FAIL() << "a bird or a machine";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "'crane' names 2 classes of deit, among them 134 and 517; give the index or "
                 "WordNet id");
  }
}

TEST(ClassNames, SayWhatMayHaveBeenMeant) {
  EXPECT_EQ(
      pets().explain("guinea_pgi"),
      "'guinea_pgi' is not a class of pets by name, WordNet id or index (0 to 2); did you mean "
      "'guinea pig'?");
  EXPECT_EQ(pets().explain("7"),
            "'7' is not a class of pets by name, WordNet id or index (0 to 2)");
  EXPECT_THAT(imagenet().explain("goldfihs"), HasSubstr("did you mean 'goldfish'?"));
}

TEST(WordnetId, IsALetterAndEightDigits) {
  EXPECT_EQ(leading_wordnet_id("n01440764"), "n01440764");
  EXPECT_EQ(leading_wordnet_id("n01440764_7.JPEG"), "n01440764");
  EXPECT_EQ(leading_wordnet_id("n0144076"), "");
  EXPECT_EQ(leading_wordnet_id("n01440764a"), "");
  EXPECT_EQ(leading_wordnet_id("m01440764"), "");
  EXPECT_EQ(leading_wordnet_id(""), "");
}

}  // namespace
}  // namespace vit::tools
