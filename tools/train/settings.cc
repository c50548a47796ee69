#include "tools/train/settings.h"

#include <charconv>
#include <sstream>

#include "tools/train/option_modes.h"
#include "vit/kernels/multiply.h"
#include "weights/known/architectures.h"

namespace vit::tools {
namespace {

bool is_number(const std::string& typed, double least, double most, double& value) {
  const char* end = typed.data() + typed.size();
  const auto [stop, error] = std::from_chars(typed.data(), end, value);
  return error == std::errc{} && stop == end && value >= least && value <= most;
}

/// Reads options by name.
class Reader {
 public:
  explicit Reader(const cxxopts::ParseResult& arguments) : arguments_(arguments) {}

  bool given(const char* name) const { return arguments_.count(name) != 0; }
  std::string text(const char* name) const {
    return given(name) ? arguments_[name].as<std::string>() : std::string{};
  }
  void count(const char* name, size_t least, size_t most, size_t& value) const {
    if (given(name)) value = parse_count("--" + std::string(name), text(name), least, most);
  }
  /// A number from `least` to `most`.
  void number(const char* name, double least, double most, double& value) const {
    if (given(name) && !is_number(text(name), least, most, value))
      fail_usage("option '--", name, "' got '", text(name), "', expected a number from ", least,
                 " to ", most);
  }
  /// One number, which is both ends, or two with a colon between them.
  void range(const char* name, double least, double most, double& first, double& last) const {
    if (!given(name)) return;
    const std::string typed = text(name);
    const size_t colon = typed.find(':');
    const std::string end = colon == std::string::npos ? typed : typed.substr(colon + 1);
    if (!is_number(typed.substr(0, colon), least, most, first) ||
        !is_number(end, least, most, last))
      fail_usage("option '--", name, "' got '", typed, "', expected a number from ", least, " to ",
                 most, ", or two such as ", least, ":", most);
  }

 private:
  const cxxopts::ParseResult& arguments_;
};

constexpr size_t kMany = 1'000'000;

TrainingMode training_mode(const Reader& read) {
  if (read.given("probe") && read.given("finetune"))
    fail_usage("--probe and --finetune exclude each other");
  if (read.given("probe") && read.given("lora"))
    fail_usage("--probe and --lora exclude each other");
  if (!read.given("from")) return TrainingMode::kScratch;
  if (read.given("lora")) return TrainingMode::kLora;
  return read.given("finetune") ? TrainingMode::kFinetune : TrainingMode::kProbe;
}

void check_sizes(const NewModel& model) {
  if (model.width % model.heads != 0)
    fail_usage("option '--heads': got ", model.heads, ", expected a divisor of the width ",
               model.width);
  if (model.image_size % model.patch != 0)
    fail_usage("option '--patch': got ", model.patch, ", expected a divisor of the image size ",
               model.image_size);
}

NewModel parse_model(const Reader& read) {
  if (read.given("arch") && read.given("pool"))
    fail_usage("option '--pool' is for a plain model, but --arch decides the pooling");
  NewModel model;
  model.architecture = read.text("arch");
  if (!model.architecture.empty()) {  // its sizes, unless given
    const ModelConfig known = weights::config_of(model.architecture, {}, "option '--arch'");
    model = {.architecture = model.architecture,
             .image_size = known.embedding.image_height,
             .patch = known.embedding.patch_height,
             .width = known.encoder.width,
             .depth = known.encoder.depth,
             .heads = known.encoder.heads,
             .mlp_ratio = static_cast<double>(known.encoder.mlp_width) /
                          static_cast<double>(known.encoder.width),
             .pooling = known.head.pooling};
  }
  if (read.given("from")) model.image_size = model.heads = 0;
  read.count("image-size", 1, 4096, model.image_size);
  read.count("patch", 1, 4096, model.patch);
  read.count("width", 1, 16384, model.width);
  read.count("depth", 1, 256, model.depth);
  read.count("heads", 1, 256, model.heads);
  read.number("mlp-ratio", 0.1, 32.0, model.mlp_ratio);
  if (read.given("pool"))
    model.pooling = parse_choice<Pooling>("--pool", read.text("pool"),
                                          {{"mean", Pooling::kMean},
                                           {"class", Pooling::kClass},
                                           {"class-and-mean", Pooling::kClassAndMean}});
  if (!read.given("from")) check_sizes(model);
  return model;
}

void parse_learning(const Reader& read, train::Settings& s) {
  read.count("epochs", 1, kMany, s.epochs);
  read.count("batch", 1, kMany, s.batch);
  read.number("lr", 1e-8, 10.0, s.rate);
  s.least_rate = s.rate / 100.0;
  if (read.given("optimizer"))
    s.optimizer = parse_choice<train::OptimizerKind>("--optimizer", read.text("optimizer"));
  if (read.given("precision"))
    s.operands = parse_choice<Operands>("--precision", read.text("precision"),
                                        {{"f32", Operands::kF32}, {"bf16", Operands::kBf16}});
  if (s.operands == Operands::kBf16 && !has_bf16(active_isa()))
    fail_usage("option '--precision': got bf16, but this machine (", to_string(active_isa()),
               ") has neither AMX nor AVX-512 BF16; expected f32");
  read.number("weight-decay", 0.0, 10.0, s.adam.weight_decay);
  read.number("warmup", 0.0, 1e6, s.warmup_epochs);
  read.number("clip", 0.0, 1e6, s.clip);
  read.number("ema", 0.0, 0.999999, s.average);
  read.number("layer-decay", 0.01, 1.0, s.layer_decay);
  read.number("drop-path", 0.0, 0.9, s.drop_path);
  read.range("keep-patches", 0.05, 1.0, s.first_keep_patches, s.keep_patches);
  s.whole_epochs = (s.epochs + 9) / 10;
  read.count("whole-epochs", 0, kMany, s.whole_epochs);
  read.count("lora", 1, 4096, s.low_rank);
  if (read.given("balance"))
    s.balance = parse_choice<train::Balance>("--balance", read.text("balance"));
  read.number("label-smoothing", 0.0, 0.9, s.batches.label_smoothing);
  read.number("mixup", 0.0, 1.0, s.batches.mixing.mixup);
  read.number("cutmix", 0.0, 1.0, s.batches.mixing.cutmix);
  read.number("mix-probability", 0.0, 1.0, s.batches.mixing.probability);
  size_t seed = 0;
  read.count("seed", 0, size_t{1} << 53, seed);
  s.batches.seed = seed;
}

void parse_images(const Reader& read, train::BatchRule& batches) {
  train::Augmentation& augmentation = batches.augmentation;
  if (read.given("crop"))
    augmentation.crop = parse_choice<train::CropKind>("--crop", read.text("crop"));
  if (read.given("flip")) {
    const std::string how = read.text("flip");
    augmentation.flip = parse_choice<bool>(
        "--flip", how, {{"random", true}, {"alternating", true}, {"none", false}});
    batches.alternate_flips = how == "alternating";
  }
  read.number("jitter", 0.0, 1.0, augmentation.jitter);
  read.count("randaugment", 0, 14, augmentation.operations);
  read.number("magnitude", 0.0, 1.0, augmentation.magnitude);
  read.number("erase", 0.0, 1.0, augmentation.erase);
}

/// Defaults that differ between a new model and a trained one.
void set_defaults(TrainSettings& settings) {
  train::Settings& s = settings.training;
  const bool low_rank = settings.mode == TrainingMode::kLora;
  if (settings.tunes()) {
    s.epochs = 5;  // the classifier starts as a probe
    s.rate = low_rank ? 1e-3 : 1e-4;
    s.warmup_epochs = 1.0;
    s.layer_decay = low_rank ? 1.0 : 0.75;
    s.every_image = true;
  }
  // Small images lose too much when they are cropped; photographs do not.
  constexpr size_t kSmall = 64;
  const bool small = settings.mode == TrainingMode::kScratch && settings.model.image_size <= kSmall;
  s.batches.augmentation.crop = small ? train::CropKind::kPad : train::CropKind::kResized;
  s.batches.augmentation.pad = std::max<size_t>(1, settings.model.image_size / 8);
}

/// Options of how a run starts, is observed and ends.
void parse_course(const Reader& read, TrainSettings& settings) {
  settings.batch_by_data = settings.tunes() && !read.given("batch");
  if (settings.tunes()) settings.head_start = HeadStart::kProbe;
  if (read.given("head-start"))
    settings.head_start = parse_choice<HeadStart>("--head-start", read.text("head-start"));
  read.count("patience", 1, kMany, settings.patience);
  read.count("folds", 2, 100, settings.folds);
  read.count("probe-layers", 1, 4096, settings.probe_layers);
  settings.events = read.given("tensorboard");
  settings.preview = read.text("preview");
  settings.find_rate = read.given("find-rate");
  if (settings.mode == TrainingMode::kProbe &&
      settings.training.balance == train::Balance::kSampling)
    fail_usage(
        "option '--balance': got sampling, but a probe has no steps that draw images; "
        "expected weights or none");
}

}  // namespace

TrainSettings parse_train_settings(const cxxopts::ParseResult& arguments) {
  const Reader read(arguments);
  TrainSettings settings;
  if (read.text("output").empty()) fail_usage("no model file given, expected -o FILE.safetensors");
  settings.data = arguments.unmatched().front();
  settings.output = read.text("output");
  settings.class_names = read.text("class-names");
  settings.from = read.text("from");
  settings.mode = training_mode(read);
  check_option_modes(arguments, settings.mode);
  for (const char* name : {"teacher-share", "teacher-crops", "store-teacher", "teacher-classes"})
    if (read.given(name) && !read.given("teacher"))
      fail_usage("option '--", name, "' needs a teacher: --teacher MODEL");
  settings.model = parse_model(read);
  set_defaults(settings);
  if (read.given("init")) settings.init = parse_choice<train::Start>("--init", read.text("init"));
  parse_learning(read, settings.training);
  parse_images(read, settings.training.batches);
  settings.teacher = read.text("teacher");
  read.number("teacher-share", 0.0, 1.0, settings.teacher_share);
  read.count("teacher-crops", 0, 1000, settings.teacher_crops);
  settings.teacher_answers = read.text("store-teacher");
  settings.teacher_classes = read.text("teacher-classes");
  read.number("val-share", 0.001, 0.9, settings.validation_share);
  read.count("max-per-class", 1, kMany, settings.most_per_class);
  if (read.given("max-pixels"))
    settings.max_pixels = parse_pixel_count("--max-pixels", read.text("max-pixels"));
  read.count("threads", 1, 1024, settings.threads);
  read.number("save-every", 0.0, 1e6, settings.save_every);
  settings.resume = read.given("resume");
  settings.restart = read.given("restart");
  if (settings.resume && settings.restart) fail_usage("--resume and --restart exclude each other");
  settings.half = read.given("half");
  parse_course(read, settings);
  return settings;
}

namespace {

/// Adapters are described as fine-tuning, as in earlier checkpoints; "lora=" tells them apart.
TrainingMode described_mode(TrainingMode mode) {
  return mode == TrainingMode::kLora ? TrainingMode::kFinetune : mode;
}

/// One number where the share does not grow, as in earlier checkpoints.
std::string keep_patches_text(const train::Settings& s) {
  std::ostringstream text;
  if (s.first_keep_patches != s.keep_patches) text << s.first_keep_patches << ':';
  text << s.keep_patches;
  return text.str();
}

template <NamedEnum Enum>
std::string text_of(Enum value, Wording wording) {
  if (wording == Wording::kNames) return std::string(vit::to_string(value));
  return std::to_string(static_cast<int>(value));
}

}  // namespace

std::string describe_run(const TrainSettings& settings, const ModelConfig& config,
                         const train::BatchSource& source, Wording wording) {
  const train::Settings& s = settings.training;
  const train::Augmentation& a = s.batches.augmentation;
  std::ostringstream text;
  text << "from=" << settings.from << " how=" << text_of(described_mode(settings.mode), wording)
       << " image=" << config.embedding.image_height << "x" << config.embedding.image_width
       << " patch=" << config.embedding.patch_height << " width=" << config.encoder.width
       << " depth=" << config.encoder.depth << " heads=" << config.encoder.heads
       << " mlp=" << config.encoder.mlp_width << " pooling=" << to_string(config.head.pooling)
       << " classes=" << config.head.classes << " init=" << text_of(settings.init, wording)
       << " images=" << source.dataset.train.size() << " epochs=" << s.epochs
       << " batch=" << s.batch << " lr=" << s.rate << " optimizer=" << text_of(s.optimizer, wording)
       << " weight-decay=" << s.adam.weight_decay << " warmup=" << s.warmup_epochs
       << " clip=" << s.clip << " ema=" << s.average << " layer-decay=" << s.layer_decay
       << " drop-path=" << s.drop_path << " keep-patches=" << keep_patches_text(s)
       << " whole-epochs=" << s.whole_epochs
       << " precision=" << (s.operands == Operands::kBf16 ? "bf16" : "f32")
       << " label-smoothing=" << s.batches.label_smoothing << " mixup=" << s.batches.mixing.mixup
       << " cutmix=" << s.batches.mixing.cutmix
       << " mix-probability=" << s.batches.mixing.probability
       << " crop=" << text_of(a.crop, wording) << " flip=" << a.flip << " jitter=" << a.jitter
       << " randaugment=" << a.operations << " magnitude=" << a.magnitude << " erase=" << a.erase
       << " teacher=" << settings.teacher << " teacher-share=" << settings.teacher_share
       << " teacher-crops=" << settings.teacher_crops
       << " teacher-answers=" << (source.teaching != nullptr ? source.teaching->table.hash() : 0)
       << (s.every_image ? " every-image=1" : "");
  if (settings.head_start == HeadStart::kProbe) text << " head-start=probe";
  if (settings.head_start == HeadStart::kKeep) text << " head-start=keep";
  if (s.batches.alternate_flips) text << " flips=alternating";
  if (s.low_rank != 0) text << " lora=" << s.low_rank;
  if (s.balance != train::Balance::kNone) text << " balance=" << text_of(s.balance, wording);
  if (settings.patience != 0) text << " patience=" << settings.patience;
  text << " seed=" << s.batches.seed << " recipe=" << describe(source.recipe);
  return text.str();
}

}  // namespace vit::tools
