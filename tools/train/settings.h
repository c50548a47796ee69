/// The checked command line of vit train.
#pragma once

#include <cxxopts.hpp>
#include <filesystem>
#include <string>

#include "patch/image/image.h"
#include "tools/cli/options.h"
#include "vit/base/enum_names.h"
#include "vit/train/initialize.h"
#include "vit/train/trainer.h"

namespace vit::tools {

/// The numbers of the enumerators are part of the fingerprints of runs.
enum class TrainingMode {
  kScratch,   ///< a new model
  kProbe,     ///< a new head on frozen features
  kFinetune,  ///< all weights of a model are trained further
  kLora,      ///< low-rank changes of a model's matrices are trained
};
constexpr auto enum_names(TrainingMode) {
  using enum TrainingMode;
  return std::to_array<EnumName<TrainingMode>>(
      {{kScratch, "scratch"}, {kProbe, "probe"}, {kFinetune, "finetune"}, {kLora, "lora"}});
}

/// The first classifier of a model that is trained further.
enum class HeadStart {
  kRandom,
  kProbe,  ///< fitted to the features of the untrained model
  kKeep,   ///< the model's own, for the same classes
};
constexpr auto enum_names(HeadStart) {
  using enum HeadStart;
  return std::to_array<EnumName<HeadStart>>(
      {{kProbe, "probe"}, {kRandom, "random"}, {kKeep, "keep"}});
}

/// A new model, from scratch; of an existing one, what is asked to be different.
struct NewModel {
  std::string architecture;  ///< empty: a plain ViT of the sizes below
  size_t image_size = 32;    ///< 0 for an existing model: its own size
  size_t patch = 4;
  size_t width = 192;
  size_t depth = 6;
  size_t heads = 3;  ///< 0 for an existing model: as its file says
  double mlp_ratio = 4.0;
  Pooling pooling = Pooling::kMean;
};

struct TrainSettings {
  std::filesystem::path data;
  std::filesystem::path output;
  std::filesystem::path class_names;  ///< names for the folders' classes; empty: the folders' own
  std::string from;
  TrainingMode mode = TrainingMode::kScratch;
  NewModel model;
  train::Start init = train::Start::kMimetic;
  train::Settings training;
  bool batch_by_data = false;                 ///< training.batch is chosen when the data is read
  HeadStart head_start = HeadStart::kRandom;  ///< of a fine-tuned model
  size_t patience = 0;      ///< epochs without a better validation before it stops; 0: all epochs
  size_t probe_layers = 0;  ///< last layers that a probe reads; 0: as the model's classifier does
  size_t folds = 0;         ///< of a probe's cross-validation; 0: none
  std::filesystem::path preview;  ///< picture of augmented images, instead of training
  bool find_rate = false;         ///< search for a learning rate, instead of training
  bool events = false;            ///< TensorBoard's event file beside the model
  std::string teacher;
  double teacher_share = 0.5;
  std::filesystem::path teacher_answers;  ///< file for the answers; empty: not stored
  std::filesystem::path teacher_classes;  ///< file of matching classes; empty: by label
  size_t teacher_crops = 0;               ///< per image, for the teacher; 0: the whole image
  double validation_share = 0.1;
  size_t most_per_class = 0;
  size_t max_pixels =
      patch::kUsualMaxPixels;  ///< of an image, and of all that are decoded together
  size_t threads = 0;
  bool resume = false;
  bool restart = false;       ///< overwrite an existing model and an earlier run's checkpoint
  double save_every = 300.0;  ///< seconds between checkpoints
  bool half = false;          ///< weights of the model file in 16 bits

  /// Whether the training of a model goes on.
  bool tunes() const { return mode == TrainingMode::kFinetune || mode == TrainingMode::kLora; }
  /// Whether nothing is written to `output`.
  bool only_looks() const { return find_rate || !preview.empty(); }
  std::filesystem::path beside(const char* ending) const { return output.string() + ending; }
};

void add_train_options(cxxopts::Options& options);
TrainSettings parse_train_settings(const cxxopts::ParseResult& arguments);

/// How the text of a run writes enumerators.
enum class Wording {
  kNames,    ///< for people
  kNumbers,  ///< as all checkpoints have them in their fingerprints
};
/// All settings that affect the result of a run, as text: stored in the model file and, as numbers,
/// compared by --resume.
std::string describe_run(const TrainSettings& settings, const ModelConfig& config,
                         const train::BatchSource& source, Wording wording);

}  // namespace vit::tools
