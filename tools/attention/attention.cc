#include "tools/attention/attention.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "tools/analysis/maps.h"
#include "tools/analysis/picture.h"
#include "tools/analysis/relevance.h"
#include "tools/attention/index_page.h"
#include "tools/attention/model_pictures.h"
#include "tools/attention/option_table.h"
#include "tools/attention/raw.h"
#include "tools/attention/settings.h"
#include "tools/cli/check_output.h"
#include "tools/cli/class_names.h"
#include "tools/cli/explainable.h"
#include "tools/cli/image_input.h"
#include "tools/cli/model_files.h"
#include "tools/cli/word_options.h"
#include "tools/explorer/page.h"
#include "tools/output/file.h"
#include "tools/output/reason.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"
#include "vit/base/atomic_file.h"
#include "vit/model/open.h"
#include "weights/store.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExamples =
    "  vit attention -m deit_tiny_patch16_224 cat.jpg -o cat.png\n"
    "  vit attention -m deit_tiny_patch16_224 - -o cat.html < cat.jpg\n"
    "  vit attention -m deit_tiny_patch16_224 cat.jpg -o cat.png --grid\n"
    "  vit attention -m deit_tiny_patch16_224 cat.jpg -o cat.png --layer 5 --query x:200,y:120\n"
    "  vit attention -m deit_tiny_patch16_224 photos/ -o maps.png --method rollout\n"
    "  vit attention -m CLIP street.jpg -o street.png --class \"a red car\" --class \"a tree\"\n";

/// The model and what is shown of it.
struct Inspector {
  Classifier classifier;
  std::string model;  ///< its name in pictures and pages
  View view = View::kRelevance;
  std::vector<size_t> classes;                      ///< those of --class
  std::optional<gradient::Network<float>> network;  ///< if relevance is shown
};

/// The words of --class are the classes of a model with a text tower, unless --labels names them.
std::optional<WordClasses> words_for(const weights::Checkpoint& checkpoint,
                                     const AttentionSettings& settings,
                                     const cxxopts::ParseResult& arguments) {
  const auto& words = settings.model.classifier.words;
  if (words) return words;
  if (!settings.targets.empty() && checkpoint.text_tower)
    return parse_words(arguments, settings.targets);
  if (arguments.count("template") != 0 || arguments.count("none-of-these") != 0)
    fail_usage(
        "--template and --none-of-these need words for classes: --labels, or --class with a ",
        "model that has a text tower");
  return std::nullopt;
}

void check_has_answers(const weights::Checkpoint& checkpoint) {
  if (checkpoint.config.head.classes == 0)
    fail(name_of(checkpoint), " has no classes to explain, its output is features",
         checkpoint.text_tower ? "; name one in words: --class \"a red car\"" : "");
}

/// The model for the classes and the input of the settings, which get the words of --class.
weights::Checkpoint open_with_targets(const AttentionSettings& settings,
                                      const cxxopts::ParseResult& arguments, ModelSettings& model) {
  weights::Checkpoint checkpoint =
      weights::open(weights::find_model(model.model), {.heads = model.classifier.heads});
  model.classifier.words = words_for(checkpoint, settings, arguments);
  set_classes(checkpoint, model.classifier);
  set_input(checkpoint, model);
  return checkpoint;
}

/// Everything that the command line leaves to the model is decided here.
Inspector make_inspector(const AttentionSettings& settings, const cxxopts::ParseResult& arguments) {
  ModelSettings model = settings.model;
  const weights::Checkpoint checkpoint = open_with_targets(settings, arguments, model);
  const bool page = settings.view == View::kPage;
  const bool can_explain = explainable(checkpoint.config, model.classifier.merge_tokens);
  if (settings.by_default && !can_explain) check_default_options(arguments);
  const View view = settings.by_default && !can_explain ? View::kAttention : settings.view;
  const bool relevance = view == View::kRelevance || (page && can_explain);
  // Relevance is computed in f32; the answer shown with it must be too.
  if (relevance && !model.classifier.precision) model.classifier.precision = Precision::kF32;

  if (view == View::kRelevance) check_has_answers(checkpoint);
  Inspector inspector{load_classifier(checkpoint, model), "", view, {}, std::nullopt};
  const Classifier& classifier = inspector.classifier;
  inspector.model = shown_model(model.model, classifier);
  if (relevance) inspector.network.emplace(gradient::load_network<float>(checkpoint));
  // A class that the model does not have is one error, not one for each image of a folder.
  inspector.classes = find_classes(classifier, settings.targets);
  return inspector;
}

std::string matrix_bytes(const AttentionSettings& settings, const std::string& model,
                         const ImageAnalysis& analysis) {
  const auto sheet = make_matrices(analysis, settings.map);
  switch (settings.kind) {
    case FileKind::kNumpy:
      return matrices_npy(sheet);
    case FileKind::kJson:
      return matrices_json(model, analysis, sheet);
    case FileKind::kPicture:
    case FileKind::kPage:
      break;
  }
  return encode_picture(draw_matrices(model, analysis, sheet, settings.look),
                        fs::path(settings.output).extension().string());
}

std::string map_bytes(const AttentionSettings& settings, const Inspector& inspector,
                      const ImageAnalysis& analysis) {
  const MapSheet sheet = make_maps(
      inspector.classifier, analysis, method_of(inspector.view), settings.map,
      {.network = inspector.network ? &*inspector.network : nullptr, .classes = inspector.classes});
  switch (settings.kind) {
    case FileKind::kNumpy:
      return maps_npy(analysis, sheet);
    case FileKind::kJson:
      return maps_json(inspector.model, analysis, sheet);
    case FileKind::kPicture:
    case FileKind::kPage:
      break;
  }
  return encode_picture(draw_maps(inspector.model, analysis, sheet, settings.look),
                        fs::path(settings.output).extension().string());
}

std::string page_bytes(const Inspector& inspector, const ImageAnalysis& analysis,
                       std::span<const Prediction> answers) {
  std::vector<ClassRelevance> relevance;
  if (inspector.network)
    relevance = relevance_of_answers(inspector.classifier, *inspector.network, analysis, answers);
  return explorer_page({.classifier = inspector.classifier,
                        .analysis = analysis,
                        .model = inspector.model,
                        .answers = answers,
                        .relevance = std::move(relevance),
                        .compare = !inspector.classes.empty()});
}

/// One image to one output. Returns the text of its index entry.
std::string show_image(const AttentionSettings& settings, const Inspector& inspector,
                       const std::string& file, const fs::path& output) {
  const ImageAnalysis analysis =
      analyze_image(inspector.classifier, file, settings.model.decoding());
  if (inspector.view == View::kPage) {
    const auto answers = inspector.classes.empty()
                             ? analysis.predictions
                             : predictions_among(inspector.classes, inspector.classifier, analysis);
    write_file(output, page_bytes(inspector, analysis, answers));
    return answer_text(inspector.model, analysis, answers);
  }
  write_file(output, inspector.view == View::kMatrix
                         ? matrix_bytes(settings, inspector.model, analysis)
                         : map_bytes(settings, inspector, analysis));
  return answer_text(inspector.model, analysis);
}

/// Derived from the given output: "maps.png" for cat.jpg is "maps-cat.png"; a second cat is "-2".
fs::path output_for(const fs::path& output, const std::string& image,
                    std::set<std::string>& taken) {
  const fs::path stem = image == kStandardInput ? "standard-input" : fs::path(image).stem();
  const std::string base = output.stem().string() + "-" + stem.string();
  std::string name = base;
  for (size_t number = 2; !taken.insert(name).second; ++number)
    name = base + "-" + std::to_string(number);
  return output.parent_path() / (name + output.extension().string());
}

fs::path index_name(const fs::path& output) {
  return output.parent_path() / (output.stem().string() + "-index.html");
}

/// The inputs and their outputs, decided before the work.
struct Plan {
  std::vector<std::string> files;
  std::vector<fs::path> outputs;  ///< one for each file
  data::SkippedFiles skipped;     ///< of the folders
  bool one = false;               ///< a single image, written to the given name
};

Plan make_plan(const AttentionSettings& settings) {
  Plan plan;
  ImageFiles found = image_files(settings.files);
  plan.files = std::move(found.files);
  plan.skipped = std::move(found.skipped);
  plan.one = plan.files.size() == 1 && !fs::is_directory(settings.files.front());
  std::set<std::string> taken;
  for (const auto& file : plan.files)
    plan.outputs.push_back(plan.one ? fs::path(settings.output)
                                    : output_for(settings.output, file, taken));
  std::vector<fs::path> inputs(plan.files.begin(), plan.files.end());
  inputs.push_back(weights::find_model(settings.model.model));
  std::vector<fs::path> written = plan.outputs;
  if (!plan.one) written.push_back(index_name(settings.output));
  if (plan.files.empty()) written.emplace_back(settings.output);
  check_outputs(written, inputs);
  return plan;
}

int show_all(const AttentionSettings& settings, const Inspector& inspector, const Plan& plan) {
  std::vector<IndexEntry> entries;
  bool failed = false;
  for (size_t i = 0; i < plan.files.size(); ++i) {
    const std::string& file = plan.files[i];
    const fs::path& own = plan.outputs[i];
    try {
      const std::string answer = show_image(settings, inspector, file, own);
      entries.push_back({shown_name(file), own.filename().string(), answer});
      write_output(printable(own.string()) + "\n");
    } catch (const Error& error) {
      const std::string name = shown_name(file);
      entries.push_back({name, "", reason_of(error, name)});
      write_message(printable(error.what()));
      failed = true;
    }
  }
  const fs::path index = index_name(settings.output);
  write_file(index, index_page(inspector.model, entries));
  write_output(printable(index.string()) + "\n");
  if (!settings.model.quiet) say_skipped(plan.skipped);
  return failed ? 1 : 0;
}

/// Pictures of the model alone.
int show_model(const AttentionSettings& settings, const Classifier& classifier) {
  const bool filters = settings.view == View::kFilters;
  write_file(settings.output,
             filters ? filters_bytes(classifier, settings) : positions_bytes(classifier, settings));
  return 0;
}

int run(const cxxopts::ParseResult& arguments) {
  const AttentionSettings settings = parse_attention(arguments);
  check_folder_of(settings.output);
  remove_abandoned(fs::path(settings.output).parent_path());
  const Plan plan = make_plan(settings);
  const Inspector inspector = make_inspector(settings, arguments);
  if (plan.files.empty()) return show_model(settings, inspector.classifier);
  check_attention_size(inspector.classifier);
  if (!plan.one) return show_all(settings, inspector, plan);
  show_image(settings, inspector, plan.files.front(), settings.output);
  return 0;
}

}  // namespace

Command attention_command() {
  return {.name = "attention",
          .summary = "show where a model attends in an image",
          .description = "Show where a model attends in an image.",
          .usage = "[-m MODEL] -o OUT [OPTION...] IMAGE|FOLDER|-...",
          .examples = kExamples,
          .operands = {},  // pictures of the model alone take none
          .add_options = add_attention_options,
          .run = run};
}

}  // namespace vit::tools
