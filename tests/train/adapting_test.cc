// Training that starts from a model: every image of a small set, low-rank adapters, rare classes.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/folder.h"
#include "tests/train/small_run.h"
#include "vit/train/loss.h"

namespace vit::train {
namespace {

Settings low_rank_settings(size_t epochs) {
  Settings s = small_settings(epochs);
  s.low_rank = 3;
  s.every_image = true;
  return s;
}

std::vector<float> trained(const data::Dataset& dataset, const Settings& settings, size_t threads) {
  ThreadPool pool(threads);
  Trainer trainer(tiny_network(), {dataset, tiny_recipe()}, settings, pool);
  run_to_end(trainer);
  return trainer.state().numbers;
}

/// The same images in every epoch, which are memorized quickly.
void make_plain(Settings& settings) {
  settings.rate = 1e-2;
  settings.drop_path = 0.0;
  settings.batches.mixing = {};
  settings.batches.augmentation = {
      .crop = CropKind::kNone, .flip = false, .operations = 0, .erase = 0.0};
}

TEST(Adapting, EveryImageIsInEveryEpochWhereThatIsAskedFor) {
  const data::Dataset dataset = noisy_images(7);  // 56
  ThreadPool pool(2);
  for (const bool all : {false, true}) {
    Settings settings = small_settings(1);
    settings.every_image = all;
    Trainer trainer(tiny_network(), {dataset, tiny_recipe()}, settings, pool);
    EXPECT_EQ(trainer.steps_per_epoch(), all ? 3u : 2u) << "24 of 56 images, or 18, 19 and 19";
    while (!trainer.epoch_done()) trainer.step();
    EXPECT_EQ(trainer.state().seen, all ? 56u : 48u);
    EXPECT_EQ(trainer.images_per_epoch(), trainer.state().seen);
  }
}

TEST(Adapting, TheSameSeedGivesTheSameWeightsWhateverTheThreads) {
  const data::Dataset dataset = noisy_images([](size_t label) { return 3 + label; });
  for (const Balance balance : {Balance::kNone, Balance::kWeights, Balance::kSampling}) {
    Settings settings = low_rank_settings(2);
    settings.balance = balance;
    const auto numbers = trained(dataset, settings, 1);
    EXPECT_EQ(numbers, trained(dataset, settings, 3));
    settings.batches.seed = 1;
    EXPECT_NE(numbers, trained(dataset, settings, 1));
  }
}

TEST(Adapting, AKilledRunOfAdaptersContinuesAsIfNothingHadHappened) {
  const test::Folder folder;
  const data::Dataset dataset = noisy_images(7);
  const Settings settings = low_rank_settings(3);
  ThreadPool pool(2);
  {
    Trainer trainer(tiny_network(), {dataset, tiny_recipe()}, settings, pool);
    while (!trainer.epoch_done()) trainer.step();
    trainer.finish_epoch(1.0, 0.5);
    trainer.step();
    save_state(folder.path("run"), trainer.state());
    trainer.step();
  }
  Trainer trainer(tiny_network(), {dataset, tiny_recipe()}, settings, pool);
  trainer.restore(folder.path("run"));
  run_to_end(trainer);
  EXPECT_EQ(trainer.state().numbers, trained(dataset, settings, 1));
}

TEST(Adapting, AdaptersChangeOnlyTheMatricesOfTheLayersAndTheClassifier) {
  const data::Dataset dataset = noisy_images(7);
  ThreadPool pool(2);
  const auto before = tiny_network();
  Trainer trainer(tiny_network(), {dataset, tiny_recipe()}, low_rank_settings(2), pool);
  EXPECT_LT(trainer.learning(), before.layout.size() / 2);
  const auto at_start = trainer.merge_weights().rows.numbers;
  EXPECT_TRUE(std::ranges::equal(at_start, before.numbers)) << "nothing is changed before a step";
  run_to_end(trainer);
  const gradient::NetworkView<float> after = trainer.merge_average();
  for (const gradient::Slot& slot : before.layout.slots()) {
    const bool learns = slot.spec.part == weights::TensorPart::kClassifier ||
                        (slot.spec.layer && slot.spec.role == weights::TensorRole::kKernel);
    const std::span<const float> a(before.numbers.data() + slot.offset, slot.size());
    EXPECT_NE(std::ranges::equal(a, after.rows.numbers.subspan(slot.offset, slot.size())), learns)
        << slot.name();
  }
}

TEST(Adapting, AdaptersLearn) {
  const data::Dataset dataset = noisy_images(7);
  Settings settings = low_rank_settings(40);
  make_plain(settings);
  ThreadPool pool(2);
  Trainer trainer(tiny_network(), {dataset, tiny_recipe()}, settings, pool);
  run_to_end(trainer);
  EXPECT_GT(trainer.state().history.back().train_accuracy, 0.9);
}

/// How often the classes of an uneven set are right after training, the rarest first.
std::vector<double> recalls(Balance balance) {
  // Of the rare class 0 two images, of the others 20: pure noise, so only their number counts.
  const data::Dataset dataset = noisy_images([](size_t label) { return label == 0 ? 2u : 20u; });
  Settings settings = small_settings(12);
  settings.balance = balance;
  make_plain(settings);
  ThreadPool pool(2);
  Trainer trainer(tiny_network(), {dataset, tiny_recipe()}, settings, pool);
  run_to_end(trainer);
  const Score score = evaluate(trainer.merge_weights(), dataset.train, tiny_recipe(), nullptr);
  std::vector<double> right(8), count(8);
  for (size_t i = 0; i < dataset.train.size(); ++i) {
    count[dataset.train[i].label] += 1.0;
    right[dataset.train[i].label] += score.predictions[i] == dataset.train[i].label ? 1.0 : 0.0;
  }
  for (size_t c = 0; c < 8; ++c) right[c] /= count[c];
  return right;
}

TEST(Adapting, BalancingMakesARareClassCount) {
  EXPECT_EQ(recalls(Balance::kWeights)[0], 1.0);
  EXPECT_EQ(recalls(Balance::kSampling)[0], 1.0);
}

TEST(Adapting, BalancedSamplingDrawsEveryClassEquallyOften) {
  const data::Dataset dataset = noisy_images([](size_t label) { return label == 0 ? 2u : 10u; });
  Settings settings = small_settings(1);
  settings.batch = 72;  // the whole epoch
  settings.balance = Balance::kSampling;
  settings.batches.mixing = {};
  settings.batches.label_smoothing = 0.0;
  ThreadPool pool(1);
  Trainer trainer(tiny_network(), {dataset, tiny_recipe()}, settings, pool);
  std::vector<size_t> drawn(8);
  for (const Draw& draw : trainer.epoch_order()) ++drawn[dataset.train[draw.image].label];
  EXPECT_EQ(drawn, std::vector<size_t>(8, 9));
  std::vector<Draw> draws = trainer.epoch_order();
  std::ranges::sort(draws);
  EXPECT_EQ(std::ranges::adjacent_find(draws), draws.end())
      << "an image that comes again has other random numbers";
}

}  // namespace
}  // namespace vit::train
