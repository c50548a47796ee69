#include "tools/train/train.h"

#include "tools/cli/check_output.h"
#include "tools/output/lock.h"
#include "tools/train/adapt.h"
#include "tools/train/look_ahead.h"
#include "tools/train/probe.h"
#include "tools/train/run.h"
#include "tools/train/scratch.h"
#include "tools/train/settings.h"
#include "weights/store.h"

namespace vit::tools {
namespace {

constexpr std::string_view kExamples =
    "  vit train photos/ -o mine.safetensors --from deit_tiny_patch16_224\n"
    "  vit train photos/ -o mine.safetensors --from deit_tiny_patch16_224 --finetune\n"
    "  vit train cifar10/ -o cifar10.safetensors --width 192 --depth 9 --mlp-ratio 2\n"
    "  vit train cifar10/ -o cifar10.safetensors --width 192 --depth 9 --mlp-ratio 2 --resume\n";

/// Throws an Error if the model would replace an existing one without --restart.
void check_existing(const TrainSettings& settings) {
  namespace fs = std::filesystem;
  std::vector<fs::path> inputs;
  // A teacher whose answers are stored need not exist.
  const bool answered = !settings.teacher_answers.empty() && fs::exists(settings.teacher_answers);
  if (!settings.from.empty()) inputs.push_back(weights::find_model(settings.from));
  if (!settings.teacher.empty() && !answered)
    inputs.push_back(weights::find_model(settings.teacher));
  std::vector<fs::path> outputs{settings.output};
  if (!settings.teacher_answers.empty()) outputs.push_back(settings.teacher_answers);
  check_outputs(outputs, inputs);
  if (settings.resume || settings.restart || settings.only_looks()) return;
  if (settings.mode != TrainingMode::kProbe && fs::exists(settings.beside(".checkpoint")))
    fail_at(settings.beside(".checkpoint").string(),
            "an earlier run exists; continue it with --resume, or discard it with --restart");
  if (fs::exists(settings.output))
    fail_at(settings.output.string(), "exists already; --restart overwrites it");
}

/// Checked before the training.
void check_output(const TrainSettings& settings) {
  namespace fs = std::filesystem;
  check_folder_of(settings.output);
  if (fs::is_directory(settings.output))
    fail_at(settings.output.string(), "is a folder, expected the name of a model file");
  if (fs::exists(settings.beside(".eval")) && !fs::is_directory(settings.beside(".eval")))
    fail_at(settings.beside(".eval").string(),
            "is a file, but a folder of this name is written with the model");
  for (const char* ending : {".checkpoint", ".csv", ".png"})
    if (settings.mode != TrainingMode::kProbe && fs::is_directory(settings.beside(ending)))
      fail_at(settings.beside(ending).string(),
              "is a folder, but a file of this name is written with the model");
  check_existing(settings);
  std::error_code ignored;
  const fs::path within = fs::weakly_canonical(settings.output, ignored)
                              .lexically_relative(fs::weakly_canonical(settings.data, ignored));
  if (!within.empty() && *within.begin() != "..")
    fail_at(settings.output.string(), "is inside the data, expected a place outside of ",
            settings.data.string(), ": the files written with it would become classes");
}

/// Images per step for this number of training images. With few images, more steps matter more
/// than large batches.
size_t batch_for(size_t images) {
  constexpr size_t kLeast = 8, kMost = 128, kStepsPerEpoch = 25;
  size_t batch = kMost;
  while (batch > kLeast && batch * kStepsPerEpoch > images) batch /= 2;
  return batch;
}

int run(const cxxopts::ParseResult& arguments) {
  TrainSettings settings = parse_train_settings(arguments);
  check_output(settings);
  const OutputLock lock(settings.output);
  ThreadPool pool(settings.threads);
  if (settings.mode == TrainingMode::kProbe) return train_probe(settings, pool);
  RunInput input = settings.mode == TrainingMode::kScratch ? new_run(settings, pool)
                                                           : adapting_run(settings, pool);
  if (settings.batch_by_data) settings.training.batch = batch_for(input.dataset.train.size());
  if (!settings.preview.empty()) return write_preview(settings, input, pool);
  if (settings.find_rate) return find_rate(settings, std::move(input), pool);
  return run_training(settings, std::move(input), pool);
}

}  // namespace

Command train_command() {
  return {.name = "train",
          .summary = "train a model on your own classes",
          .description =
              "Train a model on your own classes: a folder with one folder of images per class (or "
              "train/ and val/ with such folders), IDX files or CIFAR binaries. With the model "
              "FILE come FILE.eval/ (report) and, except for a probe, FILE.csv (log), FILE.png "
              "(curves) and FILE.checkpoint: Ctrl-C saves and stops, --resume continues.",
          .usage = "DATA -o MODEL.safetensors [OPTION...]",
          .examples = kExamples,
          .operands = {.least = 1,
                       .most = 1,
                       .noun = "operand",
                       .expected = "one: the folder with the data"},
          .add_options = add_train_options,
          .run = run};
}

}  // namespace vit::tools
