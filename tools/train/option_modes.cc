#include "tools/train/option_modes.h"

namespace vit::tools {
namespace {

constexpr unsigned set_of(TrainingMode mode) {
  return 1U << static_cast<unsigned>(mode);
}

// Kinds of runs, as sets.
constexpr unsigned kNew = set_of(TrainingMode::kScratch), kProbe = set_of(TrainingMode::kProbe),
                   kFinetune = set_of(TrainingMode::kFinetune), kLora = set_of(TrainingMode::kLora);
constexpr unsigned kTunes = kFinetune | kLora;
constexpr unsigned kAdapts = kProbe | kTunes;  ///< starts from a model
constexpr unsigned kSteps = kNew | kTunes;     ///< takes training steps

/// Options that not all kinds of runs have.
constexpr struct {
  std::string_view name;
  unsigned runs;
} kOptions[]{
    {"arch", kNew},
    {"patch", kNew},
    {"width", kNew},
    {"depth", kNew},
    {"mlp-ratio", kNew},
    {"pool", kNew},
    {"init", kNew},
    {"probe", kAdapts},
    {"finetune", kAdapts},
    {"lora", kAdapts},
    {"probe-layers", kProbe},
    {"folds", kProbe},
    {"head-start", kTunes},
    {"optimizer", kNew | kFinetune},
    {"layer-decay", kNew | kFinetune},
    {"epochs", kSteps},
    {"batch", kSteps},
    {"lr", kSteps},
    {"precision", kSteps},
    {"weight-decay", kSteps},
    {"warmup", kSteps},
    {"clip", kSteps},
    {"ema", kSteps},
    {"drop-path", kSteps},
    {"keep-patches", kSteps},
    {"whole-epochs", kSteps},
    {"label-smoothing", kSteps},
    {"mixup", kSteps},
    {"cutmix", kSteps},
    {"mix-probability", kSteps},
    {"teacher", kSteps},
    {"teacher-share", kSteps},
    {"teacher-crops", kSteps},
    {"store-teacher", kSteps},
    {"teacher-classes", kSteps},
    {"crop", kSteps},
    {"flip", kSteps},
    {"jitter", kSteps},
    {"randaugment", kSteps},
    {"magnitude", kSteps},
    {"erase", kSteps},
    {"save-every", kSteps},
    {"resume", kSteps},
    {"patience", kSteps},
    {"tensorboard", kSteps},
    {"preview", kSteps},
    {"find-rate", kSteps},
};

/// Why an option that is for `runs` has no effect on a run of another kind.
std::string reason(std::string_view name, unsigned runs, unsigned run) {
  if (name == "head-start" && run == kNew) return "is for --finetune and --lora";
  if (run == kNew) return "needs a model to start from: --from MODEL";
  if (runs == kNew) return "describes a new model, but --from gives one";
  if (run == kProbe)
    return "has no effect on a probe, which fits a classifier only; did you mean --finetune?";
  if (name == "folds") return "is for a probe, whose images are read once; expected --probe";
  if (name == "probe-layers")
    return "is for a probe; to train all weights under such a classifier, train the probe first "
           "and start from its model file: --from FILE --finetune";
  return "has no effect on --lora, whose matrices learn by AdamW at one rate in all layers";
}

}  // namespace

void check_option_modes(const cxxopts::ParseResult& arguments, TrainingMode mode) {
  const unsigned run = set_of(mode);
  for (const auto& [name, runs] : kOptions)
    if ((runs & run) == 0 && arguments.count(std::string(name)) != 0)
      fail_usage("option '--", name, "' ", reason(name, runs, run));
}

}  // namespace vit::tools
