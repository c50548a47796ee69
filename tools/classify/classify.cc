#include "tools/classify/classify.h"

#include <exception>

#include "patch/image/pixel_budget.h"
#include "tools/cli/groups.h"
#include "tools/cli/image_input.h"
#include "tools/cli/model_options.h"
#include "tools/cli/sequence_option.h"
#include "tools/cli/word_options.h"
#include "tools/output/predictions.h"
#include "tools/output/reason.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"
#include "vit/base/error.h"
#include "vit/model/classifier.h"

namespace vit::tools {
namespace {

constexpr std::string_view kExamples =
    "  vit classify -m deit_tiny_patch16_224 cat.jpg\n"
    "  vit classify -m model.safetensors -k 1 --json photos/*.jpg > results.json\n"
    "  vit classify -m openai/clip-vit-base-patch32 --labels \"a cat,a dog\" cat.jpg\n"
    "  vit classify -m deit_tiny_patch16_224 --groups dog,cat,bird,vehicle photo.jpg\n"
    "  vit classify -m deit_tiny_patch16_224 --image-size 384 - < dog.webp\n";

// Enough images to keep the workers busy; few enough pixels to keep the memory small.
constexpr size_t kBatchImages = 16;
constexpr size_t kBatchBytes = size_t{256} << 20;

struct Settings {
  ModelSettings model;
  std::vector<std::string> files;
  size_t top = 5;
  std::vector<GroupSpec> groups;
  bool json = false;
  bool logits = false;
  size_t max_patches = 0;  ///< 0: one size for all images
};

void add_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  const auto text_or = [&](const char* value) { return text()->default_value(value); };
  options.add_options("", {
                              {"m,model", kModelHelp, text(), "MODEL"},
                              {"k,top", "classes per image", text_or("5"), "N"},
                          });
  options.add_options("Output", {
                                    {"json", "one JSON document instead of text"},
                                    {"logits", "raw outputs as well"},
                                    {"disable-heads", "attention heads to disable, counted from 0",
                                     text(), "LAYER:HEAD,..."},
                                });
  add_groups_option(options);
  add_temperature_option(options);
  add_quiet_option(options);
  add_word_options(options);
  add_model_options(options);
  add_sequence_option(options);
  add_merge_option(options);
}

Settings parse_settings(const cxxopts::ParseResult& arguments) {
  Settings settings;
  settings.model = parse_model_settings(arguments);
  ClassifierOptions& classifier = settings.model.classifier;
  const auto text = [&](const char* name) { return arguments[name].as<std::string>(); };
  if (arguments.count("disable-heads"))
    classifier.disabled_heads = parse_heads("--disable-heads", text("disable-heads"));
  settings.files = arguments.unmatched();
  settings.top = parse_count("--top", text("top"), 1, 1'000'000);
  settings.json = arguments.count("json") != 0;
  settings.logits = arguments.count("logits") != 0;
  settings.max_patches = parse_max_patches(arguments);
  settings.groups = parse_groups(arguments);
  if (settings.logits && !settings.groups.empty())
    fail_usage("--logits and --groups given, expected one of them: a group has no logit");
  check_standard_input(settings.files);
  return settings;
}

/// Collects images into batches and writes the results in the order of the command line.
class ClassifyRun {
 public:
  ClassifyRun(const Settings& settings, const Classifier& classifier)
      : settings_(settings),
        classifier_(classifier),
        sequences_(load_sequence_model(settings.model, settings.max_patches)),
        groups_(make_groups(settings.groups, classifier, settings.model.quiet)),
        style_(output_style()),
        budget_(settings.model.max_pixels, [this] { make_room(); }) {
    style_.multi_label = classifier.config().head.multi_label;
    style_.logits = settings.logits;
    if (!groups_ && !style_.multi_label) style_.classes = classifier.config().head.classes;
  }

  int classify_all() {
    if (settings_.json)
      write_output(json_opening(classifier_.name(), classifier_.recipe(),
                                groups_ ? dump(groups_->to_json()) : ""));
    for (const auto& file : settings_.files) add(file);
    finish_batch();
    if (settings_.json) write_output(json_closing());
    return failed_ ? 1 : 0;
  }

 private:
  void add(const std::string& file) {
    ImageResult result{.file = file, .error = {}, .predictions = {}, .logits = {}};
    try {
      // May finish the images before it, to free memory.
      images_.push_back(read_image_input(file, settings_.model.decoding(&budget_)));
      bytes_ += images_.back().pixels.size();
      result.damage = images_.back().damage;
      say_damage(file, images_.back());
    } catch (const std::exception& error) {
      result.error = reason_of(error, shown_name(file));
    }
    if (problem_) std::rethrow_exception(problem_);
    results_.push_back(std::move(result));
    if (images_.size() == kBatchImages || bytes_ >= kBatchBytes) finish_batch();
  }

  /// Called while another image is read, which must not get the errors of this batch.
  void make_room() {
    try {
      finish_batch();
    } catch (...) {
      problem_ = std::current_exception();
      images_.clear();  // else the image that is being read would wait for their memory forever
    }
  }

  void finish_batch() {
    auto rows = batch_logits();
    size_t next = 0;
    for (auto& result : results_) {
      if (result.error.empty()) {
        if (rows.empty())
          answer_alone(images_[next++], result);
        else
          answer(std::move(rows.at(next++)), result);
      }
      write(result);
    }
    results_.clear();
    images_.clear();
    bytes_ = 0;
  }

  /// Empty if an image of the batch fails: then each is run alone.
  std::vector<std::vector<float>> batch_logits() const {
    if (sequences_) return {};
    try {
      return classifier_.logits(images_);
    } catch (const std::exception&) {
      return {};
    }
  }

  void answer_alone(const Image& image, ImageResult& result) const {
    try {
      answer(sequences_ ? sequences_->logits(image)
                        : std::move(classifier_.logits({&image, 1}).front()),
             result);
    } catch (const std::exception& error) {
      result.error = reason_of(error, shown_name(result.file));
    }
  }

  void answer(std::vector<float> logits, ImageResult& result) const {
    try {
      check_answer(logits);
    } catch (const Error& error) {
      result.error = error.reason();
      return;
    }
    result.predictions = top_answers(classifier_, groups_, logits, settings_.top);
    result.logits = std::move(logits);
  }

  void write(ImageResult& result) {
    failed_ = failed_ || !result.error.empty();
    if (settings_.json) {
      write_output((written_ ? ",\n" : "") + json_image(result, settings_.logits));
    } else if (result.error.empty()) {
      write_output((written_ ? "\n" : "") + to_text(result, style_));
    } else {
      write_message(printable(shown_name(result.file) + ": " + result.error));
      return;
    }
    written_ = true;
  }

  const Settings& settings_;
  const Classifier& classifier_;
  std::unique_ptr<SequenceModel> sequences_;  ///< null: one size for all images
  std::optional<Groups> groups_;
  TextStyle style_;
  patch::PixelBudget budget_;  ///< declared before the images, which return their share to it
  std::vector<ImageResult> results_;  ///< of the batch, in order
  std::vector<Image> images_;         ///< the readable ones
  size_t bytes_ = 0;
  std::exception_ptr problem_;  ///< of a batch that was finished while another image was read
  bool written_ = false;
  bool failed_ = false;
};

int run(const cxxopts::ParseResult& arguments) {
  const Settings settings = parse_settings(arguments);
  const Classifier classifier = load_with_classes(settings.model);
  return ClassifyRun(settings, classifier).classify_all();
}

}  // namespace

Command classify_command() {
  return {.name = "classify",
          .summary = "name the most likely classes of images",
          .description =
              "Name the most likely classes of each image (JPEG, PNG, WebP, BMP, TIFF, "
              "GIF, HEIC, AVIF).",
          .usage = "[-m MODEL] [OPTION...] IMAGE...",
          .examples = kExamples,
          .operands = {.least = 1,
                       .noun = "image",
                       .expected = "one or more files, or - for one on standard input"},
          .add_options = add_options,
          .run = run};
}

}  // namespace vit::tools
