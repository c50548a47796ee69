#include "tools/embed/embed.h"

#include <span>

#include "patch/image/pixel_budget.h"
#include "tools/cli/check_output.h"
#include "tools/output/terminal.h"
#include "tools/rows/header.h"
#include "tools/rows/run/run.h"
#include "vit/base/error.h"
#include "vit/index/vectors.h"
#include "vit/model/features.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

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
               "cls: the class token; mean: the mean of the patches; cls-and-mean: both; pooled: "
               "what the model's classifier reads; patches: each of them (default: pooled if the "
               "model has no classifier, else cls if it has a class token, else mean)",
               text(), "WHICH"},
              {"normalize", "vectors of length 1"},
          });
  add_run_options(options);
  add_shard_options(options);
  add_model_options(options);
  add_merge_option(options);
  add_sequence_option(options);
}

EmbedSettings parse_embed(const cxxopts::ParseResult& arguments) {
  EmbedSettings settings;
  settings.model = parse_model_settings(arguments);
  if (arguments.count("features"))
    settings.kind =
        parse_choice<FeatureKind>("--features", arguments["features"].as<std::string>());
  settings.normalize = arguments.count("normalize") != 0;
  if (settings.model.classifier.max_patches != 0 && settings.kind == FeatureKind::kPatches)
    fail_usage(
        "with --max-patches images have different numbers of patches, so '--features patches' has "
        "no fixed size; expected cls, mean, cls-and-mean or pooled");
  settings.run = parse_run_settings(arguments, settings.model.classifier.threads);
  using enum ResultKind;
  const fs::path& output = settings.run.output;
  const ResultKind kind = choose_by_ending(output, result_kinds({kNumpy, kJsonl, kStandardOutput}));
  settings.run = with_output(settings.run, {.kind = kind, .file = output});
  return settings;
}

/// Scales each vector of `width` numbers to length 1; a vector of zeros stays.
void normalize(std::span<float> numbers, size_t width) {
  for (; !numbers.empty(); numbers = numbers.subspan(width)) index::normalize(numbers.first(width));
}

int run(const cxxopts::ParseResult& arguments) {
  const EmbedSettings settings = parse_embed(arguments);
  const Classifier classifier =
      load_classifier(open_model(settings.model), for_rows(settings.model));
  const ModelConfig& config = classifier.config();
  const FeatureKind kind = settings.kind.value_or(usual_features(config));
  check_features(config, kind);
  const bool patches = kind == FeatureKind::kPatches;
  const size_t width = patches ? config.encoder.width : feature_count(config, kind);
  RowShape shape;
  shape.features = {width};
  if (patches) shape.features.insert(shape.features.begin(), config.embedding.grid().count());

  patch::PixelBudget budget(settings.model.max_pixels);
  Json wanted;
  wanted["features"] = to_string(kind);
  wanted["shape"] = shape.features;
  wanted["normalize"] = settings.normalize;
  if (const size_t most = settings.model.classifier.max_patches; most != 0)
    wanted["max_patches"] = most;
  Json header = make_header("embed", settings.model, classifier, wanted);
  const RunSettings rows = with_rows(settings.run, shape, header);
  const auto answer = [&](Row& row, const std::atomic<bool>& stop) {
    const auto decoding = settings.model.decoding(&budget, &stop);
    const Image image = load_image(row, decoding, rows);
    std::vector<float> features = classifier.features(image, kind);
    check_answer(features);
    row.features = std::move(features);
    if (settings.normalize) normalize(row.features, width);
  };
  const StopSignals signals;
  return run_rows(rows, {.header = std::move(header), .answer = answer, .before_writing = {}},
                  signals)
      .status;
}

}  // namespace

Command embed_command() {
  return {.name = "embed",
          .summary = "write the features of whole folders",
          .description =
              "Write the features of many images: similar images have similar vectors. One row per "
              "input, even if it cannot be read (NaN). The same command resumes a run that was "
              "stopped.",
          .usage = "[-m MODEL] [OPTION...] INPUT... -o OUT",
          .examples = kExamples,
          .operands = kInputOperands,
          .add_options = add_options,
          .run = run};
}

}  // namespace vit::tools
