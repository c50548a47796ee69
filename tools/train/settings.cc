#include "tools/train/settings.h"

#include <charconv>
#include <cmath>
#include <sstream>

#include "vit/kernels/multiply.h"
#include "weights/known/architectures.h"

namespace vit::tools {
namespace {

/// Reads options by name with the messages of the house.
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
    if (!given(name)) return;
    const std::string typed = text(name);
    const auto [end, error] = std::from_chars(typed.data(), typed.data() + typed.size(), value);
    if (error != std::errc{} || end != typed.data() + typed.size() || !(value >= least) ||
        !(value <= most))
      fail_usage("option '--", name, "' got '", typed, "', expected a number from ", least, " to ",
                 most);
  }

 private:
  const cxxopts::ParseResult& arguments_;
};

constexpr size_t kMany = 1'000'000;

void add_model_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "Model",
      {
          {"from", "start from this model: a new classifier on its features", text(), "MODEL"},
          {"probe", "with --from: all but the classifier stays as it is (the default)"},
          {"finetune", "with --from: the whole model learns on"},
          {"arch", "from scratch: a known architecture, such as vit_tiny_patch16_224", text(),
           "NAME"},
          {"image-size", "edge of the input in pixels (32)", text(), "N"},
          {"patch", "edge of a patch in pixels (4)", text(), "N"},
          {"width", "numbers per token (192)", text(), "N"},
          {"depth", "layers (6)", text(), "N"},
          {"heads", "attention heads (3)", text(), "N"},
          {"mlp-ratio", "width of the MLP against that of the tokens (4)", text(), "X"},
          {"pool", "what is classified: mean (of the tokens) or class (a token of its own)", text(),
           "WHAT"},
          {"init", "first weights: mimetic or plain", text(), "HOW"},
      });
}

void add_learning_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "Learning",
      {
          {"epochs", "times through the data (100; finetune 10)", text(), "N"},
          {"batch", "images per step (128)", text(), "N"},
          {"lr", "highest learning rate (0.001; finetune 0.0001)", text(), "X"},
          {"optimizer", "adamw, or muon for the matrices of the layers (adamw)", text(), "NAME"},
          {"weight-decay", "pull of the weights towards zero (0.05)", text(), "X"},
          {"warmup", "epochs until the highest rate (5)", text(), "X"},
          {"precision",
           "of the inputs of products: f32, or bf16 for machines with AMX or AVX-512 BF16 (f32)",
           text(), "WHAT"},
          {"clip", "largest norm of a gradient, 0: any (1)", text(), "X"},
          {"ema", "decay of the running average of the weights, 0: none (0.999)", text(), "X"},
          {"layer-decay", "factor on the rate per layer away from the head (1; finetune 0.75)",
           text(), "X"},
          {"drop-path", "how often the last layer is skipped (0)", text(), "X"},
          {"keep-patches", "share of each image's patches that is trained on: less is faster (1)",
           text(), "X"},
          {"whole-epochs", "last epochs on all patches (a tenth)", text(), "N"},
          {"label-smoothing", "share of a label spread over all classes (0.1)", text(), "X"},
          {"mixup", "alpha of mixtures of two images, 0: none (0)", text(), "X"},
          {"cutmix", "alpha of boxes from another image, 0: none (0)", text(), "X"},
          {"mix-probability", "how often a batch is mixed (1)", text(), "X"},
          {"teacher", "a model of the same classes whose opinion is learned too", text(), "MODEL"},
          {"teacher-share", "how much of the target is the teacher's (0.5)", text(), "X"},
      });
}

void add_image_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "Images",
      {
          {"crop", "pad (shift by a few pixels), resized (a random part) or none; by image size",
           text(), "HOW"},
          {"no-flip", "never mirror images: digits, text"},
          {"jitter", "change brightness, contrast and saturation by up to this share (0)", text(),
           "X"},
          {"randaugment", "random operations per image (2)", text(), "N"},
          {"magnitude", "of these, 0 to 1 (0.9)", text(), "X"},
          {"erase", "how often a box becomes noise (0.25)", text(), "X"},
          {"val-share", "kept for validation where the data has no such part (0.1)", text(), "X"},
          {"max-per-class", "use no more images of each class", text(), "N"},
          {"max-pixels",
           "largest image that is read, and the most pixels that all threads decode at the same "
           "time (500M)",
           text(), "N"},
      });
}

Depth how_deep(const Reader& read) {
  if (read.given("probe") && read.given("finetune"))
    fail_usage("--probe and --finetune exclude each other");
  if (!read.given("from")) {
    if (read.given("probe") || read.given("finetune"))
      fail_usage("--probe and --finetune need a model to start from: --from MODEL");
    return Depth::kScratch;
  }
  return read.given("finetune") ? Depth::kFinetune : Depth::kProbe;
}

/// Options that say what a new model is mean nothing for one that is there.
void check_new_model_options(const Reader& read) {
  for (const char* name :
       {"arch", "image-size", "patch", "width", "depth", "heads", "mlp-ratio", "pool", "init"})
    if (read.given("from") && read.given(name))
      fail_usage("option '--", name, "' describes a new model, but --from gives one");
  if (read.given("arch") && read.given("pool"))
    fail_usage("option '--pool' is for a plain model, but --arch says how it pools");
}

/// A probe takes no steps: what is said about them would be lost.
void check_probe_options(const Reader& read) {
  for (const char* name : {"epochs",
                           "batch",
                           "lr",
                           "optimizer",
                           "precision",
                           "weight-decay",
                           "warmup",
                           "clip",
                           "ema",
                           "layer-decay",
                           "drop-path",
                           "keep-patches",
                           "whole-epochs",
                           "label-smoothing",
                           "mixup",
                           "cutmix",
                           "mix-probability",
                           "teacher",
                           "teacher-share",
                           "crop",
                           "no-flip",
                           "jitter",
                           "randaugment",
                           "magnitude",
                           "erase",
                           "save-every",
                           "resume"})
    if (read.given(name))
      fail_usage("option '--", name,
                 "' means nothing to a probe, which fits a classifier only; did you mean "
                 "--finetune?");
}

void check_sizes(const Shape& shape) {
  if (shape.width % shape.heads != 0)
    fail_usage("option '--heads': got ", shape.heads, ", expected a divisor of the width ",
               shape.width);
  if (shape.image_size % shape.patch != 0)
    fail_usage("option '--patch': got ", shape.patch, ", expected a divisor of the image size ",
               shape.image_size);
}

Shape parse_shape(const Reader& read) {
  check_new_model_options(read);
  Shape shape;
  shape.architecture = read.text("arch");
  if (!shape.architecture.empty()) {  // its own sizes, unless told otherwise
    const ModelConfig known = weights::config_of(shape.architecture, {}, "option '--arch'");
    shape = {.architecture = shape.architecture,
             .image_size = known.embedding.image_height,
             .patch = known.embedding.patch_height,
             .width = known.encoder.width,
             .depth = known.encoder.depth,
             .heads = known.encoder.heads,
             .mlp_ratio = static_cast<double>(known.encoder.mlp_width) /
                          static_cast<double>(known.encoder.width),
             .class_token = known.head.pooling == Pooling::kClass};
  }
  read.count("image-size", 1, 4096, shape.image_size);
  read.count("patch", 1, 4096, shape.patch);
  read.count("width", 1, 16384, shape.width);
  read.count("depth", 1, 256, shape.depth);
  read.count("heads", 1, 256, shape.heads);
  read.number("mlp-ratio", 0.1, 32.0, shape.mlp_ratio);
  if (read.given("pool"))
    shape.class_token =
        parse_choice<bool>("--pool", read.text("pool"), {{"mean", false}, {"class", true}});
  if (!read.given("from")) check_sizes(shape);
  return shape;
}

void parse_learning(const Reader& read, train::Settings& s) {
  read.count("epochs", 1, kMany, s.epochs);
  read.count("batch", 1, kMany, s.batch);
  read.number("lr", 1e-8, 10.0, s.rate);
  s.least_rate = s.rate / 100.0;
  if (read.given("optimizer"))
    s.method = parse_choice<train::Method>(
        "--optimizer", read.text("optimizer"),
        {{"adamw", train::Method::kAdamW}, {"muon", train::Method::kMuon}});
  if (read.given("precision"))
    s.operands = parse_choice<Operands>("--precision", read.text("precision"),
                                        {{"f32", Operands::kF32}, {"bf16", Operands::kBf16}});
  if (s.operands == Operands::kBf16 && !has_bf16())
    fail_usage("option '--precision': got bf16, but this machine (", to_string(active_isa()),
               ") has neither AMX nor AVX-512 BF16; expected f32");
  s.adam.operands = s.operands;
  read.number("weight-decay", 0.0, 10.0, s.adam.weight_decay);
  read.number("warmup", 0.0, 1e6, s.warmup_epochs);
  read.number("clip", 0.0, 1e6, s.clip);
  read.number("ema", 0.0, 0.999999, s.average);
  read.number("layer-decay", 0.01, 1.0, s.layer_decay);
  read.number("drop-path", 0.0, 0.9, s.drop_path);
  read.number("keep-patches", 0.05, 1.0, s.keep_patches);
  s.whole_epochs = (s.epochs + 9) / 10;
  read.count("whole-epochs", 0, kMany, s.whole_epochs);
  read.number("label-smoothing", 0.0, 0.9, s.batches.label_smoothing);
  read.number("mixup", 0.0, 1.0, s.batches.mixing.mixup);
  read.number("cutmix", 0.0, 1.0, s.batches.mixing.cutmix);
  read.number("mix-probability", 0.0, 1.0, s.batches.mixing.probability);
  size_t seed = 0;
  read.count("seed", 0, size_t{1} << 53, seed);
  s.batches.seed = seed;
}

void parse_images(const Reader& read, train::Augmentation& augmentation) {
  using enum train::CropKind;
  if (read.given("crop"))
    augmentation.crop = parse_choice<train::CropKind>(
        "--crop", read.text("crop"), {{"pad", kPad}, {"resized", kResized}, {"none", kNone}});
  augmentation.flip = !read.given("no-flip");
  read.number("jitter", 0.0, 1.0, augmentation.jitter);
  read.count("randaugment", 0, 14, augmentation.operations);
  read.number("magnitude", 0.0, 1.0, augmentation.magnitude);
  read.number("erase", 0.0, 1.0, augmentation.erase);
}

/// Where one value suits both a new model and a trained one badly.
void set_defaults(TrainSettings& settings) {
  train::Settings& s = settings.training;
  if (settings.how == Depth::kFinetune) {
    s.epochs = 10;
    s.rate = 1e-4;
    s.warmup_epochs = 1.0;
    s.layer_decay = 0.75;
  }
  // Small images have no pixels to spare; photographs do.
  constexpr size_t kSmall = 64;
  const bool small = settings.how == Depth::kScratch && settings.shape.image_size <= kSmall;
  s.batches.augmentation.crop = small ? train::CropKind::kPad : train::CropKind::kResized;
  s.batches.augmentation.pad = std::max<size_t>(1, settings.shape.image_size / 8);
}

}  // namespace

cxxopts::Options train_options() {
  const auto text = [] { return cxxopts::value<std::string>(); };
  cxxopts::Options options(
      "vit train",
      "Train a model on your own classes: a folder with one folder of images per class (or "
      "train/ and val/ with such folders), IDX files or CIFAR binaries. Beside the model FILE "
      "comes FILE.eval/ (report) and, but for a probe, FILE.csv (log), FILE.png (curves) and "
      "FILE.checkpoint: Ctrl-C saves and stops, --resume goes on.\n");
  options.custom_help("DATA -o MODEL.safetensors [OPTION...]");
  options.add_options(
      "", {
              {"o,output", "the model file to write", text(), "FILE"},
              {"resume", "continue the run that wrote FILE.checkpoint"},
              {"restart", "overwrite an existing model, and start a new run where one was"},
              {"h,help", "this text"},
          });
  add_model_options(options);
  add_learning_options(options);
  add_image_options(options);
  options.add_options(
      "Machine", {
                     {"seed", "another number, another run (0)", text(), "N"},
                     {"threads", "worker threads, all of the machine's unless given", text(), "N"},
                     {"save-every", "seconds between checkpoints (300)", text(), "S"},
                     {"half", "store the model's matrices in 16 bits"},
                 });
  return options;
}

TrainSettings parse_train_settings(const cxxopts::ParseResult& arguments) {
  const Reader read(arguments);
  TrainSettings settings;
  const auto operands = arguments.unmatched();
  if (operands.size() != 1)
    fail_usage(operands.size(), " operands given, expected one: the folder with the data");
  if (read.text("output").empty()) fail_usage("no model file given, expected -o FILE.safetensors");
  settings.data = operands.front();
  settings.output = read.text("output");
  settings.from = read.text("from");
  settings.how = how_deep(read);
  if (settings.how == Depth::kProbe) check_probe_options(read);
  if (read.given("teacher-share") && !read.given("teacher"))
    fail_usage("option '--teacher-share' needs a teacher: --teacher MODEL");
  settings.shape = parse_shape(read);
  set_defaults(settings);
  if (read.given("init"))
    settings.start = parse_choice<train::Start>(
        "--init", read.text("init"),
        {{"mimetic", train::Start::kMimetic}, {"plain", train::Start::kPlain}});
  parse_learning(read, settings.training);
  parse_images(read, settings.training.batches.augmentation);
  settings.teacher = read.text("teacher");
  read.number("teacher-share", 0.0, 1.0, settings.teacher_share);
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
  return settings;
}

ModelConfig new_model(const Shape& shape, size_t classes) {
  ModelConfig c;
  if (!shape.architecture.empty()) c = weights::config_of(shape.architecture);
  const bool plain = shape.architecture.empty();
  c.architecture = plain ? "vit_custom" : shape.architecture;
  c.embedding.image_height = c.embedding.image_width = shape.image_size;
  c.embedding.patch_height = c.embedding.patch_width = shape.patch;
  c.encoder.width = shape.width;
  c.encoder.depth = shape.depth;
  if (plain || c.encoder.key_value_heads == c.encoder.heads)
    c.encoder.key_value_heads = shape.heads;
  c.encoder.heads = shape.heads;
  c.encoder.mlp_width =
      static_cast<size_t>(std::lround(shape.mlp_ratio * static_cast<double>(shape.width)));
  if (plain) {
    c.embedding.prefix =
        shape.class_token ? std::vector{PrefixToken::kClass} : std::vector<PrefixToken>{};
    c.head.pooling = shape.class_token ? Pooling::kClass : Pooling::kMean;
  }
  c.head.classes = classes;
  c.embedding.position_grid = c.embedding.grid();
  return c;
}

std::string describe_run(const TrainSettings& settings, const ModelConfig& config,
                         const data::Dataset& dataset) {
  const train::Settings& s = settings.training;
  const train::Augmentation& a = s.batches.augmentation;
  std::ostringstream text;
  text << "from=" << settings.from << " how=" << static_cast<int>(settings.how)
       << " image=" << config.embedding.image_height << "x" << config.embedding.image_width
       << " patch=" << config.embedding.patch_height << " width=" << config.encoder.width
       << " depth=" << config.encoder.depth << " heads=" << config.encoder.heads
       << " mlp=" << config.encoder.mlp_width << " pooling=" << to_string(config.head.pooling)
       << " classes=" << config.head.classes << " init=" << static_cast<int>(settings.start)
       << " images=" << dataset.train.size() << " epochs=" << s.epochs << " batch=" << s.batch
       << " lr=" << s.rate << " optimizer=" << static_cast<int>(s.method)
       << " weight-decay=" << s.adam.weight_decay << " warmup=" << s.warmup_epochs
       << " clip=" << s.clip << " ema=" << s.average << " layer-decay=" << s.layer_decay
       << " drop-path=" << s.drop_path << " keep-patches=" << s.keep_patches
       << " whole-epochs=" << s.whole_epochs
       << " precision=" << (s.operands == Operands::kBf16 ? "bf16" : "f32")
       << " label-smoothing=" << s.batches.label_smoothing << " mixup=" << s.batches.mixing.mixup
       << " cutmix=" << s.batches.mixing.cutmix
       << " mix-probability=" << s.batches.mixing.probability
       << " crop=" << static_cast<int>(a.crop) << " flip=" << a.flip << " jitter=" << a.jitter
       << " randaugment=" << a.operations << " magnitude=" << a.magnitude << " erase=" << a.erase
       << " teacher=" << settings.teacher << " teacher-share=" << settings.teacher_share
       << " seed=" << s.batches.seed << " recipe=" << describe(s.batches.recipe);
  return text.str();
}

}  // namespace vit::tools
