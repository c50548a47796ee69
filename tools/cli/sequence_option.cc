#include "tools/cli/sequence_option.h"

#include "weights/store.h"

namespace vit::tools {

void add_sequence_option(cxxopts::Options& options) {
  options.add_options("Image", {{"max-patches",
                                 "most patches of an image, each image on a grid of its own aspect "
                                 "ratio: the input of NaFlex models (default: one size for all)",
                                 cxxopts::value<std::string>(), "N"}});
}

size_t parse_max_patches(const cxxopts::ParseResult& arguments) {
  if (!arguments.count("max-patches")) return 0;
  if (arguments.count("image-size"))
    fail_usage("--max-patches and --image-size given, expected one of them");
  if (arguments.count("labels"))
    fail_usage("--max-patches and --labels given, expected one of them");
  return parse_count("--max-patches", arguments["max-patches"].as<std::string>(), 1, kMostTokens);
}

std::unique_ptr<SequenceModel> load_sequence_model(const ModelSettings& settings,
                                                   size_t max_patches) {
  if (max_patches == 0) return nullptr;
  const ClassifierOptions& options = settings.classifier;
  const auto checkpoint =
      weights::open(weights::find_model(settings.model), {.heads = options.heads});
  return std::make_unique<SequenceModel>(
      checkpoint, SequenceOptions{.most_patches = max_patches,
                                  .load = {.positions = options.positions,
                                           .precision = options.precision,
                                           .most_tokens = options.most_tokens},
                                  .run = {.merge_tokens = options.merge_tokens,
                                          .disabled_heads = options.disabled_heads},
                                  .threads = options.threads});
}

}  // namespace vit::tools
