#include "tools/embed/embed.h"

#include <cmath>
#include <span>

#include "patch/image/pixel_budget.h"
#include "tools/batch/results/header.h"
#include "tools/batch/run.h"
#include "tools/cli/check_output.h"
#include "tools/output/terminal.h"
#include "vit/base/error.h"
#include "vit/model/features.h"

namespace vit::tools {
namespace {

constexpr std::string_view kExamples =
    "  vit embed -m vit_small_patch14_dinov2 photos/ -o features.npy\n"
    "  vit embed -m vit_small_patch14_dinov2 photos/ -o features.npy --features mean --normalize\n"
    "  vit embed -m deit_tiny_patch16_224 shard-*.tar -o - | head -2\n";

struct EmbedSettings {
  ModelSettings model;
  RunSettings run;
  std::optional<FeatureKind> kind;
  bool normalize = false;
};

void add_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "", {
              {"m,model", kModelHelp, text(), "MODEL"},
              {"o,output",
               "file for the rows: .npy, with a list of them in OUT.npy.jsonl; .jsonl; or - for "
               "JSONL on standard output",
               text(), "OUT"},
              {"features",
               "cls: the class token; mean: the mean of the patches; patches: each of them "
               "(default: cls if the model has it, else mean)",
               text(), "WHICH"},
              {"normalize", "vectors of length 1"},
          });
  add_run_options(options);
  add_shard_options(options);
  add_model_options(options);
}

EmbedSettings parse_embed(const cxxopts::ParseResult& arguments) {
  EmbedSettings settings;
  settings.model = parse_model_settings(arguments);
  if (arguments.count("features"))
    settings.kind = parse_choice<FeatureKind>("--features", arguments["features"].as<std::string>(),
                                              {{"cls", FeatureKind::kClass},
                                               {"mean", FeatureKind::kMean},
                                               {"patches", FeatureKind::kPatches}});
  settings.normalize = arguments.count("normalize") != 0;
  settings.run = parse_run_settings(arguments, settings.model.classifier.threads);
  using enum ResultKind;
  const ResultKind kind = choose_by_ending<ResultKind>(
      settings.run.output, {{".npy", kNumpy}, {".jsonl", kJsonl}, {"-", kStandardOutput}});
  set_kind(settings.run, kind);
  return settings;
}

FeatureKind usual_kind(const ModelConfig& config) {
  const auto& prefix = config.embedding.prefix;
  const bool named = std::find(prefix.begin(), prefix.end(), PrefixToken::kClass) != prefix.end();
  return named ? FeatureKind::kClass : FeatureKind::kMean;
}

/// Each vector of `width` numbers to the length 1; one of zeros stays.
void normalize(std::span<float> numbers, size_t width) {
  for (; !numbers.empty(); numbers = numbers.subspan(width)) {
    double squares = 0.0;
    for (const float x : numbers.first(width)) squares += double{x} * double{x};
    if (squares == 0.0) continue;
    const double scale = 1.0 / std::sqrt(squares);
    for (float& x : numbers.first(width)) x = static_cast<float>(x * scale);
  }
}

int run(const cxxopts::ParseResult& arguments) {
  EmbedSettings settings = parse_embed(arguments);
  settings.model.classifier.threads = 1;  // one image per worker, as in `vit batch`
  const Classifier classifier = load_classifier(settings.model);
  const ModelConfig& config = classifier.config();
  const FeatureKind kind = settings.kind.value_or(usual_kind(config));
  check_features(config, kind);
  auto& shape = settings.run.shape.features;
  shape = {config.encoder.width};
  if (kind == FeatureKind::kPatches) shape.insert(shape.begin(), config.embedding.grid().count());

  patch::PixelBudget budget(settings.model.max_pixels);
  Json wanted;
  wanted["features"] = to_string(kind);
  wanted["shape"] = shape;
  wanted["normalize"] = settings.normalize;
  const auto answer = [&](Row& row, const std::atomic<bool>& stop) {
    const auto decoding = settings.model.decoding(&budget, &stop);
    std::vector<float> features =
        classifier.features(load_image(row, decoding, settings.run.strict), kind);
    check_answer(features);
    row.features = std::move(features);
    if (settings.normalize) normalize(row.features, config.encoder.width);
  };
  return run_rows(settings.run, {.header = make_header("embed", settings.model, classifier, wanted),
                                 .answer = answer,
                                 .before_writing = {}});
}

}  // namespace

Command embed_command() {
  return {.name = "embed",
          .summary = "write the features of whole folders",
          .description =
              "Write the features of many images: similar images have similar vectors. One row per "
              "input, even\nif it cannot be read (NaN). The same command resumes a run that was "
              "stopped.",
          .usage = "[-m MODEL] [OPTION...] INPUT... -o OUT",
          .examples = kExamples,
          .operands = kInputOperands,
          .add_options = add_options,
          .run = run};
}

}  // namespace vit::tools
