// Figures against hand-counted ones, and against the definitions written out naively.
#include "tools/eval/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tools/eval/evaluate.h"

namespace vit::tools {
namespace {

using testing::ElementsAre;

TEST(Judge, RanksTheTruthAsTopWouldListIt) {
  const std::vector<float> probabilities{0.1f, 0.4f, 0.1f, 0.4f, 0.0f};
  EXPECT_EQ(judge(probabilities, 1).rank, 0u);
  EXPECT_EQ(judge(probabilities, 3).rank, 1u) << "equal ones in the order of their index";
  EXPECT_EQ(judge(probabilities, 0).rank, 2u);
  EXPECT_EQ(judge(probabilities, 2).rank, 3u);
  EXPECT_EQ(judge(probabilities, 4).rank, 4u);
  const Answer answer = judge(probabilities, 2);
  EXPECT_EQ(answer.predicted, 1u);
  EXPECT_FLOAT_EQ(static_cast<float>(answer.confidence), 0.4f);
  EXPECT_FLOAT_EQ(static_cast<float>(answer.truth_probability), 0.1f);
  EXPECT_FALSE(answer.right());
}

Answer answer(size_t truth, size_t predicted, double confidence, size_t rank_if_wrong = 1) {
  return {.truth = truth,
          .predicted = predicted,
          .rank = truth == predicted ? 0 : rank_if_wrong,
          .confidence = confidence,
          .truth_probability = truth == predicted ? confidence : 0.1};
}

/// Class 0: three images, two right; 1: two images, one right; 2: one image, taken for 0; 3: none,
/// predicted once; 4: neither.
Tally six_images() {
  Tally tally(5);
  tally.add(answer(0, 0, 0.9));
  tally.add(answer(0, 0, 0.8));
  tally.add(answer(0, 3, 0.6));
  tally.add(answer(1, 1, 0.7));
  tally.add(answer(1, 0, 0.5, 5));
  tally.add(answer(2, 0, 0.4, 4));
  return tally;
}

TEST(Tally, CountsTop1AndTop5) {
  const Tally tally = six_images();
  EXPECT_EQ(tally.images(), 6u);
  EXPECT_DOUBLE_EQ(tally.top1(), 3.0 / 6.0);
  EXPECT_DOUBLE_EQ(tally.top5(), 5.0 / 6.0) << "rank 4 is the fifth place, rank 5 the sixth";
  EXPECT_EQ(tally.classes_with_images(), 3u);
  EXPECT_THAT(tally.occurring(), ElementsAre(0u, 1u, 2u, 3u));
}

TEST(Tally, ScoresEachClass) {
  const auto classes = six_images().classes();
  EXPECT_DOUBLE_EQ(*classes[0].precision(), 2.0 / 4.0);
  EXPECT_DOUBLE_EQ(*classes[0].recall(), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(*classes[0].f1(), 2.0 * (0.5 * 2.0 / 3.0) / (0.5 + 2.0 / 3.0));
  EXPECT_DOUBLE_EQ(*classes[1].precision(), 1.0);
  EXPECT_DOUBLE_EQ(*classes[1].recall(), 0.5);
  EXPECT_FALSE(classes[2].precision()) << "never predicted";
  EXPECT_DOUBLE_EQ(*classes[2].f1(), 0.0);
  EXPECT_DOUBLE_EQ(*classes[3].precision(), 0.0);
  EXPECT_FALSE(classes[3].recall()) << "has no image";
  EXPECT_FALSE(classes[4].f1());
  const MeanScore mean = six_images().mean();
  EXPECT_DOUBLE_EQ(mean.precision, (0.5 + 1.0 + 0.0) / 3.0);
  EXPECT_DOUBLE_EQ(mean.recall, (2.0 / 3.0 + 0.5 + 0.0) / 3.0);
  EXPECT_DOUBLE_EQ(mean.f1, (4.0 / 7.0 + 2.0 / 3.0 + 0.0) / 3.0);
}

TEST(Tally, KeepsTheConfusionMatrix) {
  Tally tally = six_images();
  EXPECT_EQ(tally.confused(0, 0), 2u);
  EXPECT_EQ(tally.confused(0, 3), 1u);
  EXPECT_EQ(tally.confused(3, 0), 0u);
  EXPECT_TRUE(tally.most_confused(9).empty()) << "none came twice";
  tally.add(answer(2, 0, 0.3));
  tally.add(answer(0, 3, 0.3));
  tally.add(answer(0, 3, 0.3));
  EXPECT_THAT(tally.most_confused(9), ElementsAre(Confusion{0, 3, 3}, Confusion{2, 0, 2}));
  EXPECT_THAT(tally.most_confused(1), ElementsAre(Confusion{0, 3, 3}));
  EXPECT_EQ(tally.confusions().size(), 5u);
}

TEST(Tally, HasNoCalibrationErrorIfConfidenceEqualsAccuracy) {
  Tally believed(2), sure(2);
  for (size_t i = 0; i < 100; ++i) {
    believed.add(answer(0, i < 75 ? 0 : 1, 0.75));
    sure.add(answer(0, i < 75 ? 0 : 1, 1.0));
  }
  EXPECT_NEAR(believed.calibration_error(), 0.0, 1e-9);
  EXPECT_NEAR(sure.calibration_error(), 0.25, 1e-9);
  EXPECT_NEAR(sure.mean_confidence(), 1.0, 1e-9);
  EXPECT_EQ(sure.bins().back().images, 100u) << "a certain answer is in the last bin";
}

/// The definition, with its own bins: (i/15, (i+1)/15].
double naive_calibration_error(const std::vector<Answer>& answers) {
  double error = 0.0;
  for (int bin = 0; bin < 15; ++bin) {
    double count = 0.0, right = 0.0, confidence = 0.0;
    for (const Answer& a : answers) {
      if (a.confidence <= bin / 15.0 || a.confidence > (bin + 1) / 15.0) continue;
      count += 1.0;
      right += a.right() ? 1.0 : 0.0;
      confidence += a.confidence;
    }
    if (count > 0.0)
      error += count / static_cast<double>(answers.size()) *
               std::abs(right / count - confidence / count);
  }
  return error;
}

TEST(Tally, AgreesWithTheDefinitionAndNotWithTheOrder) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0.01, 1.0);
  std::vector<Answer> answers;
  for (int i = 0; i < 2000; ++i)
    answers.push_back(answer(random() % 6, random() % 6, uniform(random), 1 + random() % 6));
  Tally one(6), other(6);
  for (const Answer& a : answers) one.add(a);
  std::ranges::shuffle(answers, random);
  for (const Answer& a : answers) other.add(a);
  EXPECT_NEAR(one.calibration_error(), naive_calibration_error(answers), 1e-8);
  EXPECT_EQ(one.calibration_error(), other.calibration_error());
  EXPECT_EQ(one.mean_confidence(), other.mean_confidence());
  EXPECT_EQ(one.confusions(), other.confusions());
}

Mistake mistake(const std::string& name, double confidence, double left = 0.1) {
  return {
      {name, 0, 0},
      {.truth = 0, .predicted = 1, .rank = 1, .confidence = confidence, .truth_probability = left}};
}

std::vector<std::string> names_of(const WorstMistakes& worst) {
  std::vector<std::string> names;
  for (const auto& m : worst.sorted()) names.push_back(m.image.name);
  return names;
}

TEST(WorstMistakes, KeepsTheWorstInAnyOrder) {
  std::vector<Mistake> all{mistake("a", 0.3), mistake("b", 0.9),       mistake("c", 0.5),
                           mistake("d", 0.9), mistake("e", 0.9, 0.01), mistake("f", 0.1)};
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    std::ranges::shuffle(all, random);
    WorstMistakes three(3), many(100), none(0);
    for (const Mistake& m : all) {
      three.add(m);
      many.add(m);
      none.add(m);
    }
    EXPECT_THAT(names_of(three), ElementsAre("e", "b", "d"));
    EXPECT_THAT(names_of(many), ElementsAre("e", "b", "d", "c", "a", "f"));
    EXPECT_TRUE(none.sorted().empty());
  }
}

}  // namespace
}  // namespace vit::tools
