// A training run learns, gives the same result again, and continues after a kill without a change.
#include "vit/train/trainer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>

#include "tests/support/folder.h"
#include "tests/support/message_of.h"
#include "tests/train/small_run.h"
#include "vit/base/error.h"
#include "vit/base/hash.h"
#include "vit/kernels/multiply.h"
#include "vit/model/classifier.h"
#include "vit/train/export.h"
#include "weights/checkpoint.h"

namespace vit::train {
namespace {

using vit::test::message_of;
namespace fs = std::filesystem;

Settings plain_settings(size_t epochs) {
  Settings s;
  s.epochs = epochs;
  s.batch = 32;
  s.rate = 3e-3;
  s.warmup_epochs = 2.0;
  s.average = 0.9;
  s.batches.label_smoothing = 0.0;
  s.batches.augmentation = {.crop = CropKind::kNone, .flip = false, .operations = 0, .erase = 0.0};
  return s;
}

/// Every option that draws random numbers is on.
Settings lively_settings(size_t epochs) {
  Settings s = plain_settings(epochs);
  s.batches.augmentation = {};
  s.batches.label_smoothing = 0.1;
  s.batches.mixing = {.mixup = 0.5, .cutmix = 0.5, .probability = 0.7};
  s.drop_path = 0.2;
  s.first_keep_patches = 0.3;
  s.keep_patches = 0.6;
  s.whole_epochs = 1;
  s.layer_decay = 0.8;
  return s;
}

void run_epochs(Trainer& trainer, const data::Dataset& dataset) {
  while (!trainer.done()) {
    while (!trainer.epoch_done()) trainer.step();
    const Score score =
        evaluate(trainer.merge_average(), dataset.validation, tiny_recipe(), nullptr);
    trainer.finish_epoch(score.loss, score.accuracy);
  }
}

TEST(Trainer, ShowsMorePatchesFromEpochToEpoch) {
  const data::Dataset dataset = noisy_images();
  Settings settings = plain_settings(5);
  settings.first_keep_patches = 0.25;
  settings.keep_patches = 0.75;
  settings.whole_epochs = 2;
  ThreadPool pool(1);
  Trainer trainer(tiny_network(), {dataset, tiny_recipe()}, settings, pool);
  std::vector<size_t> seen;
  for (; !trainer.done(); trainer.finish_epoch(0.0, 0.0)) seen.push_back(trainer.patches_seen());
  EXPECT_EQ(seen, (std::vector<size_t>{4, 8, 12, 16, 16}));
}

std::vector<float> trained(const data::Dataset& dataset, const Settings& settings, size_t threads) {
  ThreadPool pool(threads);
  Trainer trainer(tiny_network(), {dataset, tiny_recipe()}, settings, pool);
  run_epochs(trainer, dataset);
  return trainer.state().numbers;
}

TEST(Trainer, Bf16InputsLearnAndAreReproducible) {
  if (!has_bf16(active_isa())) GTEST_SKIP() << "no BF16 instructions";
  const data::Dataset dataset = noisy_images();
  Settings settings = plain_settings(40);
  settings.operands = Operands::kBf16;
  settings.optimizer = OptimizerKind::kMuon;
  ThreadPool pool(2);
  Trainer trainer(tiny_network(), {dataset, tiny_recipe()}, settings, pool);
  run_epochs(trainer, dataset);
  EXPECT_GT(trainer.state().history.back().train_accuracy, 0.9);
  EXPECT_EQ(trainer.state().numbers, trained(dataset, settings, 1));
  settings.operands = Operands::kF32;
  EXPECT_NE(trainer.state().numbers, trained(dataset, settings, 1));
}

TEST(Trainer, EndsAValidationWhenStopped) {
  const data::Dataset dataset = noisy_images();
  ThreadPool pool(2);
  const auto network = tiny_network();
  std::atomic<bool> stop{true};
  EXPECT_TRUE(evaluate(network, dataset.train, tiny_recipe(), &pool, &stop).stopped);
  stop = false;
  const Score score = evaluate(network, dataset.train, tiny_recipe(), &pool, &stop);
  EXPECT_FALSE(score.stopped);
  EXPECT_GT(score.loss, 0.0);
}

TEST(Trainer, OverfitsSixtyFourImages) {
  const data::Dataset dataset = noisy_images();
  const Settings settings = plain_settings(60);
  ThreadPool pool(2);
  Trainer trainer(tiny_network(), {dataset, tiny_recipe()}, settings, pool);
  run_epochs(trainer, dataset);
  const Score score = evaluate(trainer.merge_average(), dataset.train, tiny_recipe(), &pool);
  EXPECT_EQ(score.accuracy, 1.0) << "loss " << score.loss;
  EXPECT_LT(trainer.state().history.back().train_loss,
            0.2 * trainer.state().history.front().train_loss);
}

TEST(Trainer, TheSameSeedGivesTheSameWeightsWhateverTheThreads) {
  const data::Dataset dataset = noisy_images();
  const Settings settings = lively_settings(3);
  const auto once = trained(dataset, settings, 1);
  EXPECT_EQ(trained(dataset, settings, 1), once);
  EXPECT_EQ(trained(dataset, settings, 2), once);
  EXPECT_EQ(trained(dataset, settings, 5), once);
  Settings other = settings;
  other.batches.seed = 7;
  EXPECT_NE(trained(dataset, other, 1), once);
}

class OnDisk : public ::testing::Test {
 protected:
  test::Folder folder_;
};

TEST_F(OnDisk, AKilledRunContinuesAsIfNothingHadHappened) {
  const data::Dataset dataset = noisy_images();
  const Settings settings = lively_settings(4);
  const auto whole = trained(dataset, settings, 2);
  ThreadPool pool(2);
  {
    Trainer trainer(tiny_network(), {dataset, tiny_recipe()}, settings, pool);
    for (int i = 0; i < 2; ++i) trainer.step();
    trainer.finish_epoch(1.0, 0.5);
    trainer.step();  // in the middle of an epoch
    save_state(folder_.path("run"), trainer.state());
    trainer.step();  // what came after the checkpoint is lost
  }
  Trainer trainer(gradient::make_network<float>(tiny_config()), {dataset, tiny_recipe()}, settings,
                  pool);
  trainer.restore(folder_.path("run"));
  EXPECT_EQ(trainer.state().history.size(), 1u);
  run_epochs(trainer, dataset);
  EXPECT_EQ(trainer.state().numbers, whole);
  EXPECT_EQ(trainer.state().history.size(), 4u);
}

TEST_F(OnDisk, ADamagedOrForeignCheckpointIsRefused) {
  const data::Dataset dataset = noisy_images();
  ThreadPool pool(1);
  Trainer trainer(tiny_network(), {dataset, tiny_recipe()}, plain_settings(1), pool, 5);
  const std::string path = folder_.path("run");
  save_state(path, trainer.state());
  EXPECT_EQ(message_of([&] { load_state(path, 6); }),
            path + ": belongs to a run with other data, model or settings");
  fs::resize_file(path, fs::file_size(path) - 1);
  EXPECT_EQ(message_of([&] { load_state(path, 5); }), path + ": damaged, its checksum differs");
  std::ofstream(path) << "hello";
  EXPECT_EQ(message_of([&] { load_state(path, 5); }),
            path + ": is not a training checkpoint of this version");
}

/// A checkpoint whose checksum is right, but a field of which is not what this run would write.
struct Forgery {
  std::string name;
  void (*change)(State& state);
  std::string complaint;
};

class ForgedCheckpoint : public ::testing::TestWithParam<Forgery> {};

TEST_P(ForgedCheckpoint, IsRefusedBeforeAnythingIsReadByItsNumbers) {
  const test::Folder folder;
  const data::Dataset dataset = noisy_images();
  ThreadPool pool(1);
  const std::string path = folder.path("run");
  {
    Trainer trainer(tiny_network(), {dataset, tiny_recipe()}, plain_settings(3), pool);
    for (int i = 0; i < 2; ++i) trainer.step();
    trainer.finish_epoch(1.0, 0.5);
    trainer.step();
    State state = trainer.state();
    GetParam().change(state);
    save_state(path, state);
  }
  Trainer trainer(tiny_network(), {dataset, tiny_recipe()}, plain_settings(3), pool);
  const std::vector<float> before = trainer.state().numbers;
  EXPECT_EQ(message_of([&] { trainer.restore(path); }),
            path + ": damaged, " + GetParam().complaint);
  EXPECT_EQ(trainer.state().numbers, before);
}

const std::string kNotFinite = "it holds a number that is NaN or infinite";
const Forgery kForgeries[] = {
    {"Parameters", [](State& s) { s.numbers.pop_back(); },
     "its number of parameters is 19495, expected 19496"},
    {"Average", [](State& s) { s.average.resize(3); },
     "its number of averages is 3, expected 19496"},
    {"NoAverage", [](State& s) { s.average.clear(); },
     "its number of averages is 0, expected 19496"},
    {"FirstMoments", [](State& s) { s.moments.first.resize(5); },
     "its number of first moments is 5, expected 19496"},
    {"SecondMoments", [](State& s) { s.moments.second.push_back(0.0f); },
     "its number of second moments is 19497, expected 19496"},
    {"Epoch", [](State& s) { s.epoch = 4; }, "its epoch is 4, expected 0 to 3"},
    {"Step", [](State& s) { s.step = 3; }, "its step is 3, expected 0 to 2"},
    {"StepAfterTheLastEpoch", [](State& s) { s.epoch = 3; }, "its step is 1, expected 0"},
    {"Updates", [](State& s) { s.moments.steps = ~std::uint64_t{0}; },
     "its number of updates is 18446744073709551615, expected 3"},
    {"Seen", [](State& s) { s.seen = 0; }, "its number of images seen is 0, expected 32"},
    {"Correct", [](State& s) { s.sum.correct = 33; },
     "its number of right answers is 33, expected 0 to 32"},
    {"History", [](State& s) { s.history.clear(); }, "its number of log rows is 0, expected 1"},
    {"FirstCompared", [](State& s) { s.first_compared = 1000; },
     "its first compared epoch is 1000, expected 0 to 1"},
    {"NothingCompared",
     [](State& s) {
       s.first_compared = 1;
       s.step = s.seen = s.sum.correct = 0;
       s.moments.steps = 2;
     },
     "its first compared epoch is 1, expected 0"},
    {"NotANumber", [](State& s) { s.moments.second.back() = std::nanf(""); }, kNotFinite},
    {"InfiniteLoss", [](State& s) { s.history.back().validation_loss = HUGE_VAL; }, kNotFinite},
};

INSTANTIATE_TEST_SUITE_P(Checkpoint, ForgedCheckpoint, ::testing::ValuesIn(kForgeries),
                         [](const auto& test) { return test.param.name; });

/// Writes `bytes` followed by the checksum that they should have.
void write_with_checksum(const fs::path& path, const std::string& bytes) {
  Hash hash;
  hash.add(bytes);
  const std::uint64_t sum = hash.value();
  std::ofstream(path, std::ios::binary)
      << bytes << std::string_view(reinterpret_cast<const char*>(&sum), sizeof sum);
}

TEST_F(OnDisk, ACheckpointWithACountBeyondItsEndOrBytesAfterItIsRefused) {
  const data::Dataset dataset = noisy_images();
  ThreadPool pool(1);
  const std::string path = folder_.path("run");
  save_state(path,
             Trainer(tiny_network(), {dataset, tiny_recipe()}, plain_settings(1), pool).state());
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  bytes.resize(bytes.size() - sizeof(std::uint64_t));

  write_with_checksum(path, bytes + "tail");
  EXPECT_EQ(message_of([&] { load_state(path, 0); }),
            path + ": damaged, 4 bytes follow its last field");
  write_with_checksum(path, bytes.substr(0, bytes.size() - 1));
  EXPECT_EQ(message_of([&] { load_state(path, 0); }), path + ": damaged, it ends too early");
  // The count of log rows follows the version and seven numbers of the current epoch.
  constexpr size_t kHistory = 8 * 8;
  ASSERT_EQ(bytes.substr(kHistory, 8), std::string(8, '\0'));
  for (const char high : {'\x01', '\x10', '\x7f'}) {
    bytes[kHistory + 7] = high;
    write_with_checksum(path, bytes);
    EXPECT_EQ(message_of([&] { load_state(path, 0); }), path + ": damaged, it ends too early");
  }
}

TEST_F(OnDisk, AFullDiskLosesNoEarlierCheckpoint) {
  const data::Dataset dataset = noisy_images();
  ThreadPool pool(1);
  Trainer trainer(tiny_network(), {dataset, tiny_recipe()}, plain_settings(1), pool);
  const fs::path path = folder_.path("run");
  save_state(path, trainer.state());
  const auto size = fs::file_size(path);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit full{size / 2, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &full);
  EXPECT_THROW(save_state(path, trainer.state()), Error);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(fs::file_size(path), size);
  EXPECT_EQ(message_of([&] { load_state(path, 0); }), "no error");
}

TEST_F(OnDisk, TheModelFileClassifiesAsTheNetworkDoes) {
  const data::Dataset dataset = noisy_images();
  const Settings settings = plain_settings(12);
  ThreadPool pool(2);
  Trainer trainer(tiny_network(), {dataset, tiny_recipe()}, settings, pool);
  run_epochs(trainer, dataset);
  export_model(folder_.path("model.safetensors"), trainer.merge_average(), tiny_recipe(),
               dataset.labels);
  const Score score = evaluate(trainer.merge_average(), dataset.validation, tiny_recipe(), nullptr);
  const Classifier classifier = Classifier::load(folder_.path("model.safetensors"), {.threads = 1});
  for (size_t i = 0; i < dataset.validation.size(); i += 5) {
    const auto best = classifier.classify(dataset.validation[i].image, 1).front();
    EXPECT_EQ(best.index, score.predictions[i]);
    EXPECT_EQ(best.label, dataset.labels[best.index]);
  }
}

TEST(Trainer, SaysWhenTheLossIsNotANumber) {
  const data::Dataset dataset = noisy_images();
  ThreadPool pool(1);
  auto network = tiny_network();
  network.numbers.front() = std::numeric_limits<float>::quiet_NaN();
  Trainer trainer(std::move(network), {dataset, tiny_recipe()}, plain_settings(1), pool);
  try {
    trainer.step();
    FAIL() << "continued with NaN";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "epoch 1, step 1: the loss became NaN or infinite; restart with a lower learning "
                 "rate (now at most 0.003)");
  }
}

TEST(Trainer, RefusesAModelOfOtherClasses) {
  const data::Dataset dataset = noisy_images();
  ModelConfig config = tiny_config();
  config.head.classes = 3;
  ThreadPool pool(1);
  EXPECT_THROW(Trainer(gradient::make_network<float>(config), {dataset, tiny_recipe()},
                       plain_settings(1), pool),
               Error);
}

TEST(Initialize, ANewHeadKeepsEverythingElse) {
  const auto before = tiny_network();
  const auto after = with_new_head(before, 3, 1);
  EXPECT_EQ(after.config.head.classes, 3u);
  for (const gradient::Slot& slot : after.layout.slots()) {
    if (slot.name().starts_with("head.")) continue;
    const gradient::Slot& old = *before.layout.find(slot.name());
    for (size_t i = 0; i < slot.size(); ++i)
      ASSERT_EQ(after.numbers[slot.offset + i], before.numbers[old.offset + i]) << slot.name();
  }
}

}  // namespace
}  // namespace vit::train
