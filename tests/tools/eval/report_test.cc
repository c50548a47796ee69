#include "tools/eval/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace vit::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Case {
  ClassNames names{"pets <1>", {"cat", "dog, \"good\""}, 2};
  Evaluation evaluation{.tally = Tally(2), .worst = {}, .failures = {}};

  Case() {
    const Answer right{.truth = 0, .predicted = 0, .rank = 0, .confidence = 0.9};
    const Answer wrong{
        .truth = 1, .predicted = 0, .rank = 1, .confidence = 0.8, .truth_probability = 0.2};
    for (int i = 0; i < 3; ++i) evaluation.tally.add(right);
    for (int i = 0; i < 2; ++i) evaluation.tally.add(wrong);
    evaluation.worst = {{{"photos/<b>.jpg", 0, 1}, wrong}};
    evaluation.failures = {{"torn.jpg", "no image"}};
    evaluation.unreadable = 1;
  }
  EvaluationReport report() const { return {"photos", names, evaluation}; }
};

Image red(const LabelledImage&) {
  return blank(20, 10, {255, 0, 0});
}

TEST(EvaluationReport, IsTheSameInEveryForm) {
  const Case c;
  const auto json = nlohmann::json::parse(evaluation_json(c.report()));
  EXPECT_EQ(json.at("images"), 5);
  EXPECT_DOUBLE_EQ(json.at("top1").get<double>(), 0.6);
  EXPECT_DOUBLE_EQ(json.at("top5").get<double>(), 1.0);
  EXPECT_EQ(json.at("unreadable"), 1);
  EXPECT_EQ(json.at("failures").at(0).at("file"), "torn.jpg");
  EXPECT_TRUE(json.at("classes").at(1).at("precision").is_null());
  EXPECT_EQ(json.at("worst").at(0).at("predicted"), "cat");
  EXPECT_EQ(confusion_csv(c.report()),
            "true class,cat,\"dog, \"\"good\"\"\"\ncat,3,0\n\"dog, \"\"good\"\"\",2,0\n");
  EXPECT_EQ(classes_csv(c.report()),
            "class,label,images,predicted,right,precision,recall,f1\n"
            "0,cat,3,5,3,0.6,1,0.75\n"
            "1,\"dog, \"\"good\"\"\",2,0,0,,0,0\n");
  const std::string text = evaluation_text(c.report());
  EXPECT_THAT(text, HasSubstr("pets <1> on photos: 5 images of 2 classes"));
  EXPECT_THAT(text, HasSubstr("top-1                 60.00 %   3 of 5"));
  EXPECT_THAT(text, HasSubstr("2  dog, \"good\" taken for cat"));
  EXPECT_THAT(text, HasSubstr("1 more could not be read and are not in the figures"));
}

TEST(EvaluationReport, HasCellsThatSpreadsheetsDoNotRunWhereAskedFor) {
  Case c;
  c.names = ClassNames("m", {"=cmd|'/c calc'!A1", "dog"}, 2);
  EvaluationReport report = c.report();
  EXPECT_EQ(classes_csv(report).find("'=cmd"), std::string::npos);
  const EvaluationReport safe{report.data, report.names, report.evaluation, {}, true};
  EXPECT_THAT(classes_csv(safe), HasSubstr("\n0,'=cmd|'/c calc'!A1,3,"));
  EXPECT_THAT(confusion_csv(safe), HasSubstr("true class,'=cmd|'/c calc'!A1,dog\n'=cmd|"));
}

TEST(EvaluationReport, PageIsSelfContainedAndNamesDoNotBreakIt) {
  const Case c;
  const std::string page = evaluation_page(c.report(), red);
  EXPECT_THAT(page, HasSubstr("pets &lt;1&gt;"));
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;.jpg"));
  EXPECT_THAT(page, HasSubstr("torn.jpg: no image"));
  EXPECT_THAT(page, HasSubstr("data:image/png;base64,"));
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_THAT(page, Not(HasSubstr("<b>.jpg")));
  const std::string gone = evaluation_page(
      c.report(), [](const LabelledImage&) -> Image { throw std::runtime_error("gone"); });
  EXPECT_THAT(gone, HasSubstr("no longer readable"));
}

TEST(EvaluationReport, PictureShowsRightAndWrongApart) {
  const Case c;
  const Image image = confusion_picture(c.report());
  size_t green = 0, red = 0;
  for (size_t y = 0; y < image.height; ++y)
    for (size_t x = 0; x < image.width; ++x) {
      const std::uint8_t* pixel = image.row(y) + 3 * x;
      green += pixel[0] == 13 && pixel[1] == 118;
      red += pixel[0] == 200 && pixel[1] == 66;
    }
  EXPECT_GT(green, 1500u) << "all cats are right: one full cell";
  EXPECT_GT(red, 1500u) << "all dogs are taken for cats: one full cell";
}

/// The names of many classes do not fit a picture: the page has a matrix to zoom into.
TEST(EvaluationReport, PageOfManyClassesCanBeZoomed) {
  const size_t classes = 60;
  std::vector<std::string> labels;
  for (size_t i = 0; i < classes; ++i) labels.push_back("class </script> " + std::to_string(i));
  const ClassNames names("m", labels, classes);
  Evaluation evaluation{.tally = Tally(classes), .worst = {}, .failures = {}};
  for (size_t i = 0; i < classes; ++i)
    evaluation.tally.add({.truth = i, .predicted = i / 2, .rank = 1, .confidence = 0.5});
  const std::string page = evaluation_page({"data", names, evaluation}, red);
  EXPECT_THAT(page, HasSubstr("<canvas"));
  EXPECT_THAT(page, HasSubstr("[59,29,1]"));
  EXPECT_THAT(page, Not(HasSubstr("class </script> 7\"")));
  EXPECT_THAT(evaluation_page(Case().report(), red), Not(HasSubstr("<canvas")));
}

TEST(EvaluationReport, OneMistakeAmongAThousandClassesIsSeen) {
  const size_t classes = 1000;
  const ClassNames names("m", {}, classes);
  Evaluation evaluation{.tally = Tally(classes), .worst = {}, .failures = {}};
  for (size_t i = 0; i < classes; ++i)
    for (size_t image = 0; image < 50; ++image)
      evaluation.tally.add({.truth = i, .predicted = i, .rank = 0, .confidence = 0.5});
  evaluation.tally.add({.truth = 100, .predicted = 800, .rank = 1, .confidence = 0.5});
  const Picture image = confusion_picture({"data", names, evaluation});
  size_t orange = 0;
  for (size_t y = 0; y < image.height; ++y)
    for (size_t x = 0; x < image.width; ++x) {
      const std::uint8_t* pixel = image.row(y) + 3 * x;
      orange += pixel[0] > 200 && pixel[2] < 190 && pixel[0] > pixel[2] + 40;
    }
  EXPECT_GE(orange, 9u);
}

TEST(EvaluationReport, PictureOfThousandsOfClassesIsNotLarger) {
  const size_t classes = 5000;
  const ClassNames names("m", {}, classes);
  Evaluation evaluation{.tally = Tally(classes), .worst = {}, .failures = {}};
  for (size_t i = 0; i < classes; ++i)
    evaluation.tally.add({.truth = i, .predicted = i, .rank = 0, .confidence = 0.5});
  const Image image = confusion_picture({"data", names, evaluation});
  EXPECT_LT(image.width, 1800u);
  EXPECT_LT(image.height, 1800u);
}

}  // namespace
}  // namespace vit::tools
