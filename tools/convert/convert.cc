#include "tools/convert/convert.h"

#include <filesystem>
#include <optional>

#include "tools/cli/cache.h"
#include "tools/output/file.h"
#include "tools/output/format.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"
#include "vit/base/atomic_file.h"
#include "weights/save.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using weights::DType;

constexpr std::string_view kExamples =
    "  vit convert deit_tiny_patch16_224 deit_tiny.safetensors\n"
    "  vit convert --dtype bf16 vit_b_16.pth vit_b_16.safetensors\n"
    "  vit convert --dtype int8 deit_tiny_patch16_224 deit_tiny_int8.safetensors\n";

cxxopts::Options convert_options() {
  const auto text = [] { return cxxopts::value<std::string>(); };
  cxxopts::Options options("vit convert",
                           "Write a model as one safetensors file that holds its configuration, "
                           "recipe and labels too.\n");
  options.custom_help("[OPTION...] MODEL OUTPUT");
  options.add_options(
      "", {
              {"dtype",
               "f32, f16 or bf16 for the large weights, or int8 for those of the blocks; unless "
               "given, what the model has, so that nothing is lost",
               text(), "TYPE"},
              {"force", "overwrite OUTPUT"},
              {"heads", "attention heads, for a weight file that does not say", text(), "N"},
              {"h,help", "this text"},
          });
  return options;
}

std::optional<DType> dtype_in(const cxxopts::ParseResult& parsed) {
  if (!parsed.count("dtype")) return {};
  return parse_choice<DType>(
      "--dtype", parsed["dtype"].as<std::string>(),
      {{"f32", DType::kF32}, {"f16", DType::kF16}, {"bf16", DType::kBf16}, {"int8", DType::kI8}});
}

int convert(const cxxopts::ParseResult& parsed, const std::string& model, const fs::path& output) {
  const auto chosen = dtype_in(parsed);
  const size_t heads = parsed.count("heads")
                           ? parse_count("--heads", parsed["heads"].as<std::string>(), 1, 1024)
                           : 0;
  const fs::path source = find_model(model);
  check_outputs({output}, {source});
  std::error_code ignored;
  if (fs::exists(output, ignored) && !parsed.count("force"))
    fail(output.string(), ": exists already; --force overwrites it");
  remove_abandoned(output.parent_path());
  const auto checkpoint = weights::open(source, {.heads = heads});
  const DType dtype = chosen ? *chosen : weights::lossless_dtype(checkpoint);
  weights::save(output, checkpoint, {.dtype = dtype});
  write_output(printable(output.string()) + ": " + format_count(checkpoint.parameters()) +
               " parameters, " + (dtype == DType::kI8 ? "int8" : std::string(to_string(dtype))) +
               ", " + format_bytes(fs::file_size(output)) + "\n");
  return 0;
}

}  // namespace

int run_convert(Arguments arguments) {
  cxxopts::Options options = convert_options();
  const auto parsed = parse(options, arguments);
  if (parsed.count("help")) {
    write_output(help_text(options, {""}, kExamples));
    return 0;
  }
  const auto& operands = parsed.unmatched();
  if (operands.size() != 2)
    fail_usage(operands.size(), " operands given, expected two: the model and the file to write");
  return convert(parsed, operands[0], operands[1]);
}

}  // namespace vit::tools
