/// The options by which a subcommand gets at its model and its images.
#pragma once

#include <string>
#include <vector>

#include "patch/image/image.h"
#include "tools/cli/options.h"
#include "vit/model/classifier.h"

namespace vit::tools {

/// What -m takes.
constexpr const char* kModelHelp =
    "a folder with weights and config.json, a weight file or a pulled model; unless given, "
    "$VIT_MODEL or the model that comes with vit";

struct ModelSettings {
  std::string model;   ///< empty: $VIT_MODEL or the one that comes with vit
  bool quiet = false;  ///< no word about the model that was taken because none was given
  patch::Exif exif = patch::Exif::kApply;
  size_t max_pixels = patch::kUsualMaxPixels;  ///< of an image, and of all that are held together
  ClassifierOptions classifier;

  /// `budget` is shared by all threads that decode; none where one thread does. `stop` ends the
  /// wait for it.
  patch::DecodeOptions decoding(patch::PixelBudget* budget = nullptr,
                                const std::atomic<bool>* stop = nullptr) const;
};

/// --image-size, --positions, --exif and --max-pixels as the group "Image"; --threads, --heads and
/// --precision as "Machine".
void add_model_options(cxxopts::Options& options);
/// --merge-tokens, in the group "Machine": for what makes sense with fewer tokens.
void add_merge_option(cxxopts::Options& options);
ModelSettings parse_model_settings(const cxxopts::ParseResult& arguments);

/// A model that -m gives, or the operand before `others` other ones.
struct ModelOperand {
  std::string model;  ///< empty: $VIT_MODEL or the one that comes with vit
  std::vector<std::string> operands;
};
ModelOperand split_model(const cxxopts::ParseResult& arguments, size_t others);

/// --quiet, for commands that have nothing else to be quiet about.
void add_quiet_option(cxxopts::Options& options);

/// Says on standard error which model answers where none was given. Throws a UsageError where
/// --image-size does not fit the model, an Error for anything else.
Classifier load_classifier(const ModelSettings& settings);

/// What --max-pixels takes.
constexpr const char* kMaxPixelsHelp =
    "largest image that is read, and the most pixels that all threads hold at the same time; "
    "such as 500M";

/// "L:H,L:H": heads of layers, both from 0.
std::vector<HeadId> parse_heads(std::string_view option, std::string_view text);

}  // namespace vit::tools
