/// Options for the model and the images, shared by the commands.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "patch/image/image.h"
#include "tools/cli/options.h"
#include "vit/model/classifier.h"
#include "weights/checkpoint.h"

namespace vit::tools {

/// Help text of -m.
constexpr const char* kModelHelp =
    "a folder with weights and config.json, a weight file or a pulled model (default: "
    "$VIT_MODEL or the bundled model)";

struct ModelSettings {
  std::string model;   ///< empty: $VIT_MODEL or the bundled one
  bool quiet = false;  ///< no note about the default model
  patch::Exif exif = patch::Exif::kApply;
  size_t max_pixels = patch::kUsualMaxPixels;  ///< of an image, and of all that are held together
  ClassifierOptions classifier;

  /// `budget` is shared by all threads that decode; none where one thread does. `stop` ends the
  /// wait for it.
  patch::DecodeOptions decoding(patch::PixelBudget* budget = nullptr,
                                const std::atomic<bool>* stop = nullptr) const;
};

/// --image-size, --positions, --exif and --max-pixels as the group "Image"; --threads, --heads,
/// --precision and --max-tokens as "Machine".
void add_model_options(cxxopts::Options& options);
/// --temperature, in the group "Output", for commands that print probabilities.
void add_temperature_option(cxxopts::Options& options);
/// --max-patches, in the group "Image": for commands that can run each image at its own size.
void add_sequence_option(cxxopts::Options& options);
/// --merge-tokens, in the group "Machine", for commands that work with fewer tokens.
void add_merge_option(cxxopts::Options& options);
/// Throws a UsageError if --max-patches is given beside what it contradicts.
ModelSettings parse_model_settings(const cxxopts::ParseResult& arguments);

/// The model that -m gives; else the first operand, if there are more than `others`.
struct ModelOperand {
  std::string model;  ///< empty: $VIT_MODEL or the bundled one
  std::vector<std::string> operands;
};
ModelOperand split_model(const cxxopts::ParseResult& arguments, size_t others);

/// --quiet, for commands that have no other use for it.
void add_quiet_option(cxxopts::Options& options);

/// The model's configuration and weights, with the classes that --labels names, at the file's own
/// input size.
weights::Checkpoint open_stored(const ModelSettings& settings);
/// Gives an open model the input of the settings. Throws a UsageError if --image-size does not fit.
void set_input(weights::Checkpoint& checkpoint, const ModelSettings& settings);
/// open_stored() and set_input().
weights::Checkpoint open_model(const ModelSettings& settings);

/// From what open_model() gave for these settings. Writes a note on standard error if no model was
/// given.
Classifier load_classifier(const weights::Checkpoint& checkpoint, const ModelSettings& settings);
/// As above, of open_model().
Classifier load_classifier(const ModelSettings& settings);

/// The place of messages about the model: as it was given, else where it was found.
std::string model_place(const ModelSettings& settings, const std::filesystem::path& found);

/// Throws an Error if the model has no classes.
void check_has_classes(const weights::Checkpoint& checkpoint, const ModelSettings& settings);
/// load_classifier() after check_has_classes().
Classifier load_with_classes(const ModelSettings& settings);

/// Help text of --max-pixels.
constexpr const char* kMaxPixelsHelp =
    "pixels of the largest image to read, and of all images in memory at a time; "
    "such as 500M";

/// "L:H,L:H": heads of layers, both from 0.
std::vector<HeadId> parse_heads(std::string_view option, std::string_view text);

}  // namespace vit::tools
