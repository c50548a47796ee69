#include "tools/cli/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/folder.h"
#include "tests/support/message_of.h"
#include "tests/support/peak_memory.h"
#include "tools/output/json.h"
#include "weights/known/labels.h"

namespace vit::tools {
namespace {

using test::Folder;
using test::message_of;
using testing::ElementsAre;
using testing::FloatEq;
using testing::HasSubstr;

const ClassNames& imagenet() {
  static const ClassNames names("deit", weights::imagenet1k_labels(), 1000);
  return names;
}

const ClassNames& pets() {
  static const ClassNames names(
      "pets", {"tabby, tabby cat", "Golden Retriever", "flat-coated retriever", "my, own"}, 4);
  return names;
}

const ClassNames& parts() {
  static const ClassNames names("parts", {"bolt m6", "nut m6", "bolt m8"}, 3);
  return names;
}

/// The groups of a file with this text.
Groups groups_in(const std::string& text, const ClassNames& names, GroupOptions options = {}) {
  const Folder folder;
  return Groups(read_group_file(folder.write("g.txt", text)), names, options);
}

Groups named(const std::string& text, const ClassNames& names) {
  return Groups(parse_group_names(text), names);
}

std::string problem(const std::string& text, const ClassNames& names) {
  return message_of([&] { groups_in(text, names); });
}

TEST(Groups, TakeClassesByNamesOfWordnetOutOfTheBox) {
  const Groups groups = named("dog,bird,vehicle", imagenet());
  EXPECT_THAT(groups.names(), ElementsAre("dog", "bird", "vehicle", "other"));
  EXPECT_EQ(groups.summary(), "groups of 1,000 classes: dog 118, bird 59, vehicle 67, other 756");
  EXPECT_EQ(dump(groups.to_json()[0]), R"({"name":"dog","classes":"151-268"})");
  EXPECT_EQ(dump(groups.to_json()[1]), R"({"name":"bird","classes":"7-24,80-100,127-146"})");
  EXPECT_EQ(groups.group_of(207), 0u) << "golden retriever";
  EXPECT_EQ(groups.group_of(999), 3u);
  EXPECT_EQ(groups.remark(), "");
  EXPECT_THAT(named("birds,buses,butterflies", imagenet()).names(),
              ElementsAre("birds", "buses", "butterflies", "other"))
      << "plurals";
  EXPECT_THAT(named("n02084071", imagenet()).names(), ElementsAre("dog", "other"));
}

TEST(Groups, AddUpProbabilities) {
  const Groups groups = groups_in("retrievers = *retriever*\ncats = n02121620\n", pets());
  EXPECT_THAT(groups.names(), ElementsAre("retrievers", "cats", "other"));
  const auto sums = groups.probabilities(std::vector{0.25f, 0.125f, 0.5f, 0.125f});
  EXPECT_THAT(sums, ElementsAre(0.625f, 0.25f, 0.125f));
  const auto best = groups.top(sums, 2);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].label, "retrievers");
  EXPECT_EQ(best[0].index, 0u);
  EXPECT_EQ(best[0].probability, 0.625f);
  EXPECT_EQ(best[1].label, "cats");
  std::vector<float> many(1000, 0.001001f);
  EXPECT_THAT(named("entity", imagenet()).probabilities(many), ElementsAre(1.0f))
      << "no more than one, and no 'other' where nothing is left for it";
}

TEST(Groups, TakeTheHighestScoreOfSeveralLabels) {
  const Groups groups = groups_in("r = *retriever*\n", pets(), {.multi_label = true});
  EXPECT_THAT(groups.probabilities(std::vector{0.9f, 0.8f, 0.7f, 0.1f}), ElementsAre(0.8f, 0.9f));
}

TEST(Groups, AddUpWhatARowHolds) {
  const Groups groups = named("dog,cat", imagenet());
  const std::vector<Prediction> row{{281, "tabby", 0.4f}, {151, "", 0.25f}, {268, "", 0.25f}};
  const auto best = groups.of(row);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].label, "dog");
  EXPECT_THAT(best[0].probability, FloatEq(0.5f));
  EXPECT_EQ(best[1].label, "cat");
}

TEST(Groups, ReadLabelsPatternsIdsIndicesAndExceptions) {
  const Groups groups = groups_in(
      "\xef\xbb\xbf# pets\r\n\n dogs = *RETRIEVER , !flat*\r\nmine = \"my, own\"\nmine = 2\n",
      pets());
  EXPECT_THAT(groups.names(), ElementsAre("dogs", "mine", "other"));
  EXPECT_THAT(groups.group_of(), ElementsAre(2, 0, 1, 1));
  const Groups animals =
      groups_in("cats = cat, \"tiger\"\nanimals = animal, !cats, !dog\nother = dog\n", imagenet());
  EXPECT_THAT(animals.names(), ElementsAre("cats", "animals", "other"));
  EXPECT_EQ(animals.group_of(292), 0u) << "tiger";
  EXPECT_EQ(animals.group_of(291), 1u) << "lion";
  EXPECT_EQ(animals.group_of(151), 2u) << "a group of this name gets the rest as well";
  EXPECT_EQ(animals.group_of(999), 2u);
}

TEST(Groups, ExplainWhatIsWrongWithALine) {
  EXPECT_THAT(problem("a = tabby\nnonsense\n", pets()),
              HasSubstr("g.txt: line 2: 'nonsense', expected GROUP = labels, patterns or WordNet "
                        "ids, such as dogs = n02084071"));
  EXPECT_THAT(problem("a =\n", pets()), HasSubstr("g.txt: line 1: group 'a' is empty"));
  EXPECT_THAT(problem("a = tabby,,1\n", pets()), HasSubstr("line 1: nothing between two commas"));
  EXPECT_THAT(problem("a = \"tabby\n", pets()), HasSubstr("line 1: a quote is not closed"));
  EXPECT_THAT(problem("a = \"my, own\" x\n", pets()), HasSubstr("'x' follows a quote"));
  EXPECT_THAT(problem("# nothing\n", pets()), HasSubstr("g.txt: has no groups"));
}

TEST(Groups, ExplainWhatIsNotInTheModel) {
  EXPECT_THAT(problem("a = tabbi\n", pets()),
              HasSubstr("line 1: 'tabbi' is neither a label of pets nor a name of WordNet above "
                        "its classes; did you mean 'tabby'?"));
  EXPECT_THAT(problem("a = x*\n", pets()), HasSubstr("line 1: no label of pets matches 'x*'"));
  EXPECT_THAT(problem("a = n99999999\n", pets()),
              HasSubstr("line 1: n99999999 is not the WordNet id of an ImageNet-1k class or of "
                        "anything above one"));
  EXPECT_THAT(problem("a = bird\n", pets()),
              HasSubstr("line 1: no class of pets is 'bird' or below it in WordNet"));
  EXPECT_THAT(problem("a = \"bird\"\n", pets()), HasSubstr("line 1: no class of pets is 'bird'"));
  EXPECT_THAT(problem("a = tabby, !cat\n", pets()),
              HasSubstr("line 1: group 'a' has no class left in it"));
}

TEST(Groups, NeedAModelThatWordnetKnows) {
  for (const auto* item : {"n02084071", "dog"})
    EXPECT_THAT(problem("a = " + std::string(item) + "\n", parts()),
                HasSubstr("line 1: '" + std::string(item) +
                          "' is of WordNet, and parts has no classes of ImageNet-1k whose ids or "
                          "names are known; give labels or patterns, such as bolt m6"));
  EXPECT_THAT(groups_in("bolts = bolt*\n", parts()).names(), ElementsAre("bolts", "other"));
  const ClassNames numbers("numbers", {}, 10);
  EXPECT_THAT(problem("a = dog\n", numbers), HasSubstr("such as class 0"));
  EXPECT_THAT(groups_in("even = 0, 2, 4, 6, 8\n", numbers).names(), ElementsAre("even", "other"));
}

TEST(Groups, SayWhichClassesWordnetDoesNotKnow) {
  const Groups groups = named("cat", pets());
  EXPECT_EQ(groups.remark(),
            "1 of 4 classes is unknown to WordNet's tree of ImageNet-1k, which puts none of them "
            "into a group: my, own");
  EXPECT_EQ(groups_in("a = tabby*\n", pets()).remark(), "") << "WordNet was not asked";
}

TEST(Groups, AreNotReadWithoutEnd) {
  const Folder folder;
  const auto path = folder.write("g.txt", "");
  std::filesystem::resize_file(path, std::uintmax_t{1} << 30);  // sparse: one line
  std::string problem;
  const auto read = [&] { problem = message_of([&] { read_group_file(path); }); };
  EXPECT_LT(vit::test::peak_megabytes(read), 100u);
  EXPECT_EQ(problem, path + ": has more than 16 MB, expected a list of groups as text");
}

TEST(Groups, RefuseAClassInTwoGroups) {
  EXPECT_THAT(message_of([] { named("dog,animal", imagenet()); }),
              HasSubstr("--groups: class 151 (Chihuahua) is in 'dog' and in 'animal', and so are "
                        "117 more; expected each class in one group: in a file, animal = …, !dog "
                        "leaves classes out"));
  EXPECT_THAT(problem("a = 0\nb = tabby\n", pets()),
              HasSubstr("line 2: class 0 (tabby, tabby cat) is in 'a' and in 'b'; expected"));
}

TEST(Groups, RefuseNamesThatMeanSeveralThings) {
  EXPECT_THAT(message_of([] { named("amphibian", imagenet()); }),
              HasSubstr("--groups: 'amphibian' has several meanings; give an id:\n"
                        "  n01627424  amphibian (vertebrate): 8 classes, such as European fire "
                        "salamander\n  n02704792  amphibian, amphibious vehicle (motor vehicle): 1 "
                        "class, such as amphibian"));
  const ClassNames toys("toys", {"cat", "tabby", "dog"}, 3);
  EXPECT_THAT(groups_in("cats = cat\n", toys).group_of(), ElementsAre(0, 0, 1))
      << "a label that is also the name of what is above others";
}

TEST(Groups, LeaveOutItemsWhereOnlySomeLabelsAreKnown) {
  const Groups groups = groups_in("cats = tabby\nbirds = parrot\n", pets(), {.some_labels = true});
  EXPECT_THAT(groups.names(), ElementsAre("cats", "birds", "other"));
  EXPECT_EQ(groups.remark(), "pets: no row has a class of these group members: parrot");
  EXPECT_THAT(message_of([] { groups_in("birds = parrot\n", pets(), {.some_labels = true}); }),
              HasSubstr("line 1: none of the groups has a class of pets"));
}

TEST(Groups, AreTruthsOfImagesByTheirNameOrThatOfAClass) {
  const Groups groups = named("dog,cat", imagenet());
  const ClassNames names = imagenet().grouped(groups.names(), groups.group_of());
  EXPECT_EQ(names.find("dog"), 0u);
  EXPECT_EQ(names.find("n02123045"), 1u) << "tabby";
  EXPECT_EQ(names.find("goldfish"), 2u);
  EXPECT_EQ(names.label(2), "other");
  EXPECT_EQ(names.find("dgo"), std::nullopt);
  EXPECT_THAT(names.explain("dgo"),
              HasSubstr("'dgo' is not one of the groups (dog, cat, other) and not in one: 'dgo' is "
                        "not a class of deit by name"));
}

}  // namespace
}  // namespace vit::tools
