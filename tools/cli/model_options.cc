#include "tools/cli/model_options.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "tools/cli/model_files.h"
#include "tools/cli/served_model_options.h"
#include "tools/cli/word_options.h"
#include "tools/output/terminal.h"
#include "vit/base/error.h"
#include "vit/model/open.h"
#include "weights/store.h"

namespace vit::tools {
namespace {

HeadId parse_head(std::string_view option, std::string_view text, std::string_view all) {
  const size_t colon = text.find(':');
  const auto number = [&](std::string_view digits) {
    if (digits.empty() || digits.size() > 4 ||
        !std::ranges::all_of(digits, [](unsigned char c) { return std::isdigit(c) != 0; }))
      fail_usage("option '", option, "' got '", all,
                 "', expected heads as LAYER:HEAD,LAYER:HEAD, such as 3:0,11:2");
    return static_cast<size_t>(std::stoul(std::string(digits)));
  };
  if (colon == text.npos) number("");
  return {number(text.substr(0, colon)), number(text.substr(colon + 1))};
}

size_t parse_max_patches(const cxxopts::ParseResult& arguments) {
  if (!arguments.count("max-patches")) return 0;
  for (const char* other : {"image-size", "labels"})
    if (arguments.count(other))
      fail_usage("--max-patches and --", other, " given, expected one of them");
  return parse_count("--max-patches", arguments["max-patches"].as<std::string>(), 1, kMostTokens);
}

/// A forgotten -m would otherwise go unnoticed.
void name_default_model(const Classifier& classifier) {
  write_message("no -m given: using the bundled model, which knows " +
                std::to_string(classifier.config().head.classes) +
                " classes ('vit info --labels' lists them); 'vit models' lists larger models");
}

void add_options_of_model(cxxopts::Options& options, const char* max_pixels) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "Image",
      {
          {"image-size", "another input size, in pixels", text(), "N|HxW"},
          {"positions",
           "resampling of the positions for it: bilinear, bilinear-align-corners, bicubic, "
           "bicubic-antialias or bilinear-antialias",
           text(), "HOW"},
          {"exif", "the camera's orientation tag: apply or ignore", text()->default_value("apply"),
           "HOW"},
          {"max-pixels", kMaxPixelsHelp, text()->default_value(max_pixels), "N"},
      });
  options.add_options(
      "Machine",
      {
          {"threads", "worker threads (default: one per available core)", text(), "N"},
          {"heads", "attention heads per layer, for a weight file that does not store them", text(),
           "N"},
          {"precision",
           "arithmetic of the blocks' linear layers: f32, or int8 (1.5 to 2 times as fast, a "
           "little less accurate) (default: the format of the stored weights)",
           text(), "TYPE"},
          {"max-tokens", "largest number of tokens of a model (32768)", text(), "N"},
      });
}

}  // namespace

void add_model_options(cxxopts::Options& options) {
  add_options_of_model(options, "500M");
}

void add_served_model_options(cxxopts::Options& options) {
  add_options_of_model(options, "50M");
}

void add_sequence_option(cxxopts::Options& options) {
  options.add_options("Image", {{"max-patches",
                                 "most patches of an image, each image on a grid of its own aspect "
                                 "ratio: the input of NaFlex models (default: one size for all)",
                                 cxxopts::value<std::string>(), "N"}});
}

void add_merge_option(cxxopts::Options& options) {
  options.add_options("Machine",
                      {{"merge-tokens",
                        "pairs of similar tokens to merge after each layer: faster, less accurate "
                        "(DeiT-Ti on 1,000 photographs: 79.6 % right, 78.8 % with 8, 75.5 % with "
                        "16)",
                        cxxopts::value<std::string>(), "N"}});
}

void add_temperature_option(cxxopts::Options& options) {
  options.add_options(
      "Output",
      {{"temperature",
        "divisor of the logits: above 1 flattens the probabilities, below 1 sharpens them",
        cxxopts::value<std::string>()->default_value("1"), "T"}});
}

void add_quiet_option(cxxopts::Options& options) {
  options.add_options("",
                      {{"q,quiet", "no notes about the default model and about skipped files"}});
}

ModelSettings parse_model_settings(const cxxopts::ParseResult& arguments) {
  ModelSettings settings;
  const auto text = [&](const char* name) { return arguments[name].as<std::string>(); };
  if (arguments.count("model")) settings.model = text("model");
  settings.quiet = arguments.count("quiet") != 0;
  settings.classifier.words = parse_words(arguments);
  settings.exif = parse_choice<patch::Exif>(
      "--exif", text("exif"), {{"apply", patch::Exif::kApply}, {"ignore", patch::Exif::kIgnore}});
  settings.max_pixels = parse_pixel_count("--max-pixels", text("max-pixels"));
  ClassifierOptions& options = settings.classifier;
  if (arguments.count("image-size")) {
    const PixelSize size = parse_pixel_size("--image-size", text("image-size"));
    options.image_height = size.height;
    options.image_width = size.width;
  }
  if (arguments.count("positions"))
    options.positions = parse_choice<PositionResampling>("--positions", text("positions"));
  if (arguments.count("threads"))
    options.threads = parse_count("--threads", text("threads"), 1, 1024);
  if (arguments.count("heads")) options.heads = parse_count("--heads", text("heads"), 1, 1024);
  if (arguments.count("precision"))
    options.precision = parse_choice<Precision>("--precision", text("precision"));
  if (arguments.count("max-tokens"))
    options.most_tokens = parse_count("--max-tokens", text("max-tokens"), 1, size_t{1} << 40);
  if (arguments.count("temperature"))
    options.temperature = parse_positive("--temperature", text("temperature"));
  if (arguments.count("merge-tokens"))
    options.merge_tokens = parse_count("--merge-tokens", text("merge-tokens"), 0, 1'000'000);
  options.max_patches = parse_max_patches(arguments);
  return settings;
}

ModelOperand split_model(const cxxopts::ParseResult& arguments, size_t others) {
  ModelOperand split{"", arguments.unmatched()};
  if (arguments.count("model")) {
    split.model = arguments["model"].as<std::string>();
  } else if (split.operands.size() > others) {
    split.model = split.operands.front();
    split.operands.erase(split.operands.begin());
  }
  return split;
}

patch::DecodeOptions ModelSettings::decoding(patch::PixelBudget* budget,
                                             const std::atomic<bool>* stop) const {
  patch::DecodeOptions options(exif);
  options.max_pixels = max_pixels;
  options.budget = budget;
  options.stop = stop;
  return options;
}

weights::Checkpoint open_stored(const ModelSettings& settings) {
  return open_checkpoint(weights::find_model(settings.model), settings.classifier);
}

void set_input(weights::Checkpoint& checkpoint, const ModelSettings& settings) {
  const ClassifierOptions& options = settings.classifier;
  try {
    set_input(checkpoint, options.image_height, options.image_width, options.positions);
  } catch (const UnfitImageSize& error) {
    fail_usage("option '--image-size': ", error.what());
  }
}

weights::Checkpoint open_model(const ModelSettings& settings) {
  weights::Checkpoint checkpoint = open_stored(settings);
  set_input(checkpoint, settings);
  return checkpoint;
}

Classifier load_classifier(const weights::Checkpoint& checkpoint, const ModelSettings& settings) {
  try {
    Classifier classifier = Classifier::from(checkpoint, settings.classifier);
    if (!settings.quiet && is_bundled(settings.model)) name_default_model(classifier);
    return classifier;
  } catch (const TooManyTokens& error) {
    fail_again(error, ": --image-size N, --max-tokens N");
  }
}

Classifier load_classifier(const ModelSettings& settings) {
  return load_classifier(open_model(settings), settings);
}

std::string model_place(const ModelSettings& settings, const std::filesystem::path& found) {
  return settings.model.empty() ? found.string() : settings.model;
}

void check_has_classes(const weights::Checkpoint& checkpoint, const ModelSettings& settings) {
  if (checkpoint.config.head.classes != 0) return;
  const std::string place = model_place(settings, checkpoint.path);
  if (checkpoint.text_tower)
    fail_at(place, "this model has no classes of its own; name them in words: ",
            "--labels \"a cat,a dog\" or --labels @FILE");
  fail_at(place, name_of(checkpoint), " has no classifier, its output is ",
          checkpoint.config.outputs(),
          " features; give a model with a classifier, or write the features with vit embed");
}

Classifier load_with_classes(const ModelSettings& settings) {
  const weights::Checkpoint checkpoint = open_model(settings);
  check_has_classes(checkpoint, settings);
  return load_classifier(checkpoint, settings);
}

std::vector<HeadId> parse_heads(std::string_view option, std::string_view text) {
  std::vector<HeadId> heads;
  const std::string_view all = text;
  while (true) {
    const size_t comma = text.find(',');
    heads.push_back(parse_head(option, text.substr(0, comma), all));
    if (comma == text.npos) return heads;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace vit::tools
