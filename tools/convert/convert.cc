#include "tools/convert/convert.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "tools/cli/check_output.h"
#include "tools/cli/model_options.h"
#include "tools/cli/word_options.h"
#include "tools/output/format.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"
#include "vit/base/atomic_file.h"
#include "vit/model/open.h"
#include "weights/mean.h"
#include "weights/save.h"
#include "weights/store.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using weights::DType;

constexpr std::string_view kExamples =
    "  vit convert -m deit_tiny_patch16_224 deit_tiny.safetensors\n"
    "  vit convert -m vit_b_16.pth --dtype bf16 vit_b_16.safetensors\n"
    "  vit convert -m deit_tiny_patch16_224 --dtype int8 deit_tiny_int8.safetensors\n"
    "  vit convert -m first.safetensors --mean-with second.safetensors mean.safetensors\n"
    "  vit convert -m CLIP --labels \"a cat,a dog\" cats_and_dogs.safetensors\n";

constexpr const char* kOtherFormats[] = {".pth", ".pt",   ".bin",  ".npz", ".gguf", ".onnx",
                                         ".pkl", ".ckpt", ".json", ".h5",  ".npy"};

void add_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "", {
              {"m,model", kModelHelp, text(), "MODEL"},
              {"dtype",
               "f32, f16 or bf16 for the large weights, or int8 for those of the blocks "
               "(default: the format of the model, without loss)",
               text(), "TYPE"},
              {"mean-with",
               "write the mean of the weights of -m and of this model, which both continue the "
               "training of one model; may be given several times",
               cxxopts::value<std::vector<std::string>>(), "MODEL"},
              {"force", "overwrite OUTPUT"},
              {"heads", "attention heads, for a weight file that does not store them", text(), "N"},
          });
  add_word_options(options);
}

/// Whether the name is that of another format. Endings that mean nothing are accepted.
bool of_another_format(const fs::path& output) {
  const std::string ending = output.extension().string();
  return std::ranges::find(kOtherFormats, ending) != std::end(kOtherFormats);
}

std::optional<DType> dtype_in(const cxxopts::ParseResult& parsed) {
  if (!parsed.count("dtype")) return {};
  return parse_choice<DType>(
      "--dtype", parsed["dtype"].as<std::string>(),
      {{"f32", DType::kF32}, {"f16", DType::kF16}, {"bf16", DType::kBf16}, {"int8", DType::kI8}});
}

/// The model, or the mean of it and of those of --mean-with.
weights::Checkpoint open_mean(const fs::path& model, const std::vector<fs::path>& others,
                              size_t heads) {
  if (others.empty()) return weights::open(model, {.heads = heads});
  std::vector<weights::Checkpoint> all;
  all.push_back(weights::open(model, {.heads = heads}));
  for (const fs::path& other : others) all.push_back(weights::open(other, {.heads = heads}));
  return weights::mean_of(std::move(all));
}

std::vector<fs::path> other_models(const cxxopts::ParseResult& parsed) {
  std::vector<fs::path> models;
  if (!parsed.count("mean-with")) return models;
  for (const auto& model : parsed["mean-with"].as<std::vector<std::string>>())
    models.push_back(weights::find_model(model));
  return models;
}

int run(const cxxopts::ParseResult& parsed) {
  const auto [model, operands] = split_model(parsed, 1);
  const fs::path output = operands.front();
  // One operand alone is more often a model whose output was forgotten.
  if (model.empty() && output.extension() != ".safetensors")
    fail_usage("'", output.string(), "' is not a file to write, expected OUTPUT.safetensors; the ",
               "model is given before it or with -m");
  if (of_another_format(output))
    fail_usage("'", output.string(),
               "' is not a name of a safetensors file, the format that is written; ",
               "expected a name that ends in .safetensors");
  const auto chosen = dtype_in(parsed);
  const size_t heads = parsed.count("heads")
                           ? parse_count("--heads", parsed["heads"].as<std::string>(), 1, 1024)
                           : 0;
  const fs::path source = weights::find_model(model);
  const std::vector<fs::path> others = other_models(parsed);
  std::vector<fs::path> inputs = others;
  inputs.push_back(source);
  check_outputs({output}, inputs);
  std::error_code ignored;
  if (fs::exists(output, ignored) && !parsed.count("force"))
    fail_at(output.string(), "exists already; --force overwrites it");
  remove_abandoned(output.parent_path());
  const auto words = parse_words(parsed);
  if (words && !others.empty()) fail_usage("--labels and --mean-with given, expected one of them");
  const auto checkpoint = words ? open_checkpoint(source, {.heads = heads, .words = words})
                                : open_mean(source, others, heads);
  const DType dtype = chosen ? *chosen : weights::lossless_dtype(checkpoint);
  weights::save(output, checkpoint, {.dtype = dtype});
  write_output(printable(output.string()) + ": " + format_count(checkpoint.parameters()) +
               " parameters, " + (dtype == DType::kI8 ? "int8" : std::string(to_string(dtype))) +
               ", " + format_bytes(fs::file_size(output)) + "\n");
  return 0;
}

}  // namespace

Command convert_command() {
  return {
      .name = "convert",
      .summary = "write a model as one self-contained file",
      .description =
          "Write a model as one safetensors file that holds its configuration, "
          "recipe and labels too. With --labels, words become the classes of a model with a text "
          "tower, and the file is written without that tower. With --mean-with, the file holds the "
          "mean of several models.",
      .usage = "[-m MODEL] [OPTION...] OUTPUT",
      .examples = kExamples,
      .operands = {.least = 1,
                   .most = 2,
                   .noun = "operand",
                   .expected = "the file to write, and the model before it unless -m gives it",
                   .model_first = true},
      .add_options = add_options,
      .run = run};
}

}  // namespace vit::tools
