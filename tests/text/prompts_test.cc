/// Labels, templates and lists of them.
#include "vit/text/prompts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/message_of.h"

namespace vit::text {
namespace {

using test::message_of;
using testing::ElementsAre;

const std::vector<std::string> kTemplates{"a photo of a {}.", "{} or {}"};

TEST(Prompts, FillEveryPlaceOfATemplate) {
  EXPECT_EQ(fill_template("a photo of a {}.", "cat"), "a photo of a cat.");
  EXPECT_EQ(fill_template("{}, not {}", "a {} cat"), "a {} cat, not a {} cat");
  EXPECT_EQ(message_of([] { fill_template("a photo", "cat"); }),
            "template 'a photo' has no place for the label, expected {} in it, as in 'a photo of a "
            "{}.'");
}

TEST(Prompts, SetsOfTemplatesHaveTheirPublishedSizes) {
  EXPECT_EQ(template_set("openai-80").size(), 80u);
  EXPECT_EQ(template_set("openai-7").size(), 7u);
  EXPECT_THAT(template_set("plain"), ElementsAre("{}"));
  EXPECT_TRUE(template_set("openai").empty());
  EXPECT_EQ(template_set_names(), "openai-80, openai-7, plain");
  const auto all = template_set("openai-80");
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 80u);
  for (const auto& sentence : template_set("openai-7"))
    EXPECT_TRUE(std::ranges::find(all, sentence) != all.end()) << sentence;
}

TEST(Prompts, ListsAreSplitAtCommas) {
  EXPECT_THAT(parse_label_list(" a cat, a dog", kTemplates, "labels"),
              ElementsAre(WordLabel{"a cat", {"a photo of a a cat.", "a cat or a cat"}},
                          WordLabel{"a dog", {"a photo of a a dog.", "a dog or a dog"}}));
}

TEST(Prompts, LinesMayHaveTheirOwnPrompts) {
  EXPECT_THAT(parse_label_lines("\xEF\xBB\xBF"
                                "cat\r\nbig dog\ta hound\ta mastiff\r\n\n",
                                kTemplates, "l.txt"),
              ElementsAre(WordLabel{"cat", {"a photo of a cat.", "cat or cat"}},
                          WordLabel{"big dog", {"a hound", "a mastiff"}}));
}

TEST(Prompts, RefuseWhatNoClassifierCanBeMadeOf) {
  const auto list = [](const char* text) {
    return message_of([&] { parse_label_list(text, kTemplates, "labels"); });
  };
  const auto lines = [](const char* text) {
    return message_of([&] { parse_label_lines(text, kTemplates, "l.txt"); });
  };
  EXPECT_EQ(list("cat,,dog"), "labels: label 2 of 3 is empty; remove it or name the class");
  EXPECT_EQ(list(""), "labels: label 1 of 1 is empty; remove it or name the class");
  EXPECT_EQ(list("cat,dog,cat"),
            "labels: label 3 is 'cat', as is label 1; labels must differ: only one of two equal "
            "ones could ever be the answer");
  EXPECT_EQ(list("cat,d\xFFg"),
            "labels: label 2: byte 1 is not valid UTF-8; save the text as UTF-8");
  EXPECT_EQ(lines("\n \n"), "l.txt: no label given, expected one or more");
  EXPECT_EQ(lines("cat\n\ndog\n"),
            "l.txt:2: the label is empty; expected one label a line, or a label and its prompts "
            "separated by tabs");
  EXPECT_EQ(lines("cat\ta\t\tb"),
            "l.txt:1: label 'cat' has an empty prompt; expected a text after each tab");
  EXPECT_TRUE(parse_label_list("cat", {}, "labels").front().prompts.empty());
}

}  // namespace
}  // namespace vit::text
