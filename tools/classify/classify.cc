#include "tools/classify/classify.h"

#include <exception>
#include <optional>
#include <utility>

#include "patch/image/pixel_budget.h"
#include "tools/cli/groups.h"
#include "tools/cli/image_input.h"
#include "tools/cli/model_options.h"
#include "tools/cli/word_options.h"
#include "tools/output/predictions.h"
#include "tools/output/reason.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"
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
        groups_(make_groups(settings.groups, classifier, settings.model.quiet)),
        style_(output_style()),
        budget_(settings.model.max_pixels, [this] { answer_images(); }) {
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
    std::optional<Image> image = read(file, result);
    write_answered();  // the images before it, where their memory was needed
    if (image) {
      say_damage(file, *image);
      bytes_ += image->pixels.size();
      images_.push_back(std::move(*image));
    }
    results_.push_back(std::move(result));
    if (images_.size() == kBatchImages || bytes_ >= kBatchBytes) finish_batch();
  }

  /// None where the result says why.
  std::optional<Image> read(const std::string& file, ImageResult& result) {
    try {
      Image image = read_image_input(file, settings_.model.decoding(&budget_));
      result.damage = image.damage;
      return image;
    } catch (const std::exception& error) {
      result.error = reason_of(error, shown_name(file));
      return std::nullopt;
    }
  }

  void finish_batch() {
    answer_images();
    write_answered();
  }

  /// Gives up the images, also for the one that is being read. What goes wrong is the error of the
  /// image's result; nothing is written here.
  void answer_images() {
    if (results_.empty()) return;
    answered_ = std::exchange(results_, {});
    const std::vector<Image> images = std::exchange(images_, {});
    bytes_ = 0;
    auto rows = batch_logits(images);
    size_t next = 0;
    for (auto& result : answered_) {
      if (!result.error.empty()) continue;
      try {
        answer(
            rows.empty() ? classifier_.logits({&images[next], 1}).front() : std::move(rows[next]),
            result);
      } catch (const std::exception& error) {
        result.error = reason_of(error, shown_name(result.file));
      }
      ++next;
    }
  }

  void write_answered() {
    for (auto& result : answered_) write(result);
    answered_.clear();
  }

  /// Empty if an image of the batch fails: then each is run alone.
  std::vector<std::vector<float>> batch_logits(const std::vector<Image>& images) const {
    try {
      return classifier_.logits(images);
    } catch (const std::exception&) {
      return {};
    }
  }

  void answer(std::vector<float> logits, ImageResult& result) const {
    check_answer(logits);
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
  std::optional<Groups> groups_;
  TextStyle style_;
  patch::PixelBudget budget_;  ///< declared before the images, which return their share to it
  std::vector<ImageResult> results_;   ///< of the batch, in order
  std::vector<Image> images_;          ///< the readable ones
  size_t bytes_ = 0;                   ///< of their pixels
  std::vector<ImageResult> answered_;  ///< to be written
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
