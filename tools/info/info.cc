#include "tools/info/info.h"

#include <filesystem>
#include <set>

#include "tools/cli/model_files.h"
#include "tools/cli/model_options.h"
#include "tools/info/model_report.h"
#include "tools/output/terminal.h"
#include "weights/checkpoint.h"
#include "weights/cost.h"
#include "weights/locate.h"
#include "weights/store.h"
#include "weights/tensor_list.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExamples =
    "  vit info -m deit_tiny_patch16_224\n"
    "  vit info -m model.safetensors --tensors\n"
    "  vit info --labels | grep cat\n"
    "  vit info -m model.pth --heads 6 --json | jq .encoder\n";

void add_options(cxxopts::Options& options) {
  options.add_options("",
                      {
                          {"m,model", kModelHelp, cxxopts::value<std::string>(), "MODEL"},
                          {"labels", "list every class: index, WordNet id if known, label"},
                          {"tensors", "list every tensor of the model"},
                          {"json", "one JSON document instead of text"},
                          {"heads", "attention heads, for a weight file that does not store them",
                           cxxopts::value<std::string>(), "N"},
                      });
}

std::string_view name_of(weights::DType dtype) {
  return dtype == weights::DType::kI8 ? "int8" : to_string(dtype);
}

std::string dtypes_of(const weights::Weight& weight) {
  std::set<std::string_view> names;
  for (const auto& part : weight.parts()) names.insert(name_of(part.dtype));
  std::string text;
  for (const auto name : names) text += (text.empty() ? "" : "+") + std::string(name);
  return text;
}

/// In the order of the forward pass.
std::vector<TensorRow> tensor_rows(const weights::Checkpoint& checkpoint) {
  std::vector<TensorRow> rows;
  for (const auto& spec : weights::tensors_of(checkpoint.config))
    if (const auto* weight = checkpoint.find(spec.name))
      rows.push_back({spec.name, weights::to_string(weight->shape()), dtypes_of(*weight)});
  return rows;
}

/// Once loaded: integers stay integers, all else becomes f32.
std::uint64_t memory_of_weights(const weights::Checkpoint& checkpoint) {
  std::uint64_t sum = 0;
  for (const auto& [name, weight] : checkpoint.weights())
    sum += weight.is_int8() ? weight.size() + weight.rows() * sizeof(float)
                            : weight.size() * sizeof(float);
  return sum;
}

ModelReport report_on(const std::string& model, size_t heads) {
  const fs::path path = weights::find_model(model);
  const weights::Checkpoint checkpoint = weights::open(path, {.heads = heads});
  ModelReport report;
  report.model = model.empty() ? path.string() : model;
  report.file = weights::locate(path).weights.string();
  for (const auto& file : weight_files(path)) report.file_bytes += fs::file_size(file);
  report.format = to_string(checkpoint.format);
  report.layout = checkpoint.layout;
  for (const auto dtype : checkpoint.dtypes()) report.dtypes.emplace_back(name_of(dtype));
  report.config = checkpoint.config;
  report.recipe = checkpoint.recipe;
  report.labels = checkpoint.labels;
  report.wordnet_ids = checkpoint.wordnet_ids;
  report.assumptions = checkpoint.assumptions;
  report.unused = checkpoint.unused;
  report.tensors = tensor_rows(checkpoint);
  report.parameters = checkpoint.parameters();
  report.multiply_adds = weights::multiply_adds(checkpoint.config);
  report.weight_bytes = memory_of_weights(checkpoint);
  report.activation_bytes = weights::activation_bytes(checkpoint.config);
  return report;
}

int run(const cxxopts::ParseResult& arguments) {
  const size_t heads = arguments.count("heads")
                           ? parse_count("--heads", arguments["heads"].as<std::string>(), 1, 1024)
                           : 0;
  const ModelReport report = report_on(split_model(arguments, 0).model, heads);
  const bool tensors = arguments.count("tensors") != 0;
  if (arguments.count("labels") != 0 && arguments.count("json") == 0) {
    if (report.labels.empty()) fail_at(report.model, "has no labels");
    write_output(label_list(report));
    return 0;
  }
  write_output(arguments.count("json") ? to_json(report, tensors) : to_text(report, tensors));
  return 0;
}

}  // namespace

Command info_command() {
  return {.name = "info",
          .summary = "describe a model",
          .description = "Describe a model: architecture, sizes, recipe, labels, cost.",
          .usage = "[-m MODEL] [OPTION...]",
          .examples = kExamples,
          .operands = {.most = 1,
                       .noun = "model",
                       .expected = "one at most: a folder, a weight file or the name of a pulled "
                                   "model",
                       .model_first = true},
          .add_options = add_options,
          .run = run};
}

}  // namespace vit::tools
