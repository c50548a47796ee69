#include "tools/attention/option_table.h"

#include <array>
#include <vector>

namespace vit::tools {
namespace {

constexpr std::array<const char*, 8> kViewNames{
    "--method attention", "--method rollout",       "--method relevance", "--grid",
    "--matrix",           "--positions-similarity", "--filters",          "an .html output"};

constexpr unsigned bit(View view) {
  return 1u << static_cast<unsigned>(view);
}

constexpr unsigned kAttention = bit(View::kAttention), kRollout = bit(View::kRollout),
                   kRelevance = bit(View::kRelevance), kGrid = bit(View::kGrid),
                   kMatrix = bit(View::kMatrix), kPositions = bit(View::kPositions),
                   kPage = bit(View::kPage);
constexpr unsigned kMethods = kAttention | kRollout | kRelevance;
constexpr unsigned kMaps = kMethods | kGrid;
constexpr unsigned kOfImage = kMaps | kMatrix | kPage;

/// The views that an option affects. A look affects only pictures, not numbers.
struct OptionUse {
  const char* option;
  unsigned views;
  bool look = false;
};

// --merge-tokens and --precision are checked separately, see check_arithmetic().
constexpr std::array kUses{
    OptionUse{"method", kMaps | kMatrix},
    OptionUse{"layer", kAttention | kMatrix},
    OptionUse{"head", kAttention | kMatrix},
    OptionUse{"query", kMaps},
    OptionUse{"head-fusion", kMethods | kMatrix},
    OptionUse{"start-layer", kRollout | kRelevance},
    OptionUse{"discard", kRollout},
    OptionUse{"class", kRelevance | kPage},
    OptionUse{"bare", kMaps, true},
    OptionUse{"threshold", kMaps, true},
    OptionUse{"clip-percentile", kMaps | kMatrix, true},
    OptionUse{"colormap", kMaps | kMatrix | kPositions, true},
    OptionUse{"alpha", kMaps, true},
    OptionUse{"upsample", kMaps, true},
    OptionUse{"exif", kOfImage},
    OptionUse{"image-size", kOfImage | kPositions},
    OptionUse{"positions", kOfImage | kPositions},
};

std::string names_of(unsigned views) {
  std::vector<std::string> names;
  for (size_t i = 0; i < kViewNames.size(); ++i)
    if ((views >> i & 1u) != 0) names.emplace_back(kViewNames[i]);
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

std::string described(const ChosenView& chosen) {
  std::string text = kViewNames[static_cast<size_t>(chosen.view)];
  if (chosen.by_default) text += ", the default";
  if (!chosen.implied_by.empty()) text += ", which " + chosen.implied_by + " implies";
  return text;
}

[[noreturn]] void refuse(const OptionUse& use, const ChosenView& chosen) {
  fail_usage("--", use.option, " has no effect with ", described(chosen), "; it applies to ",
             names_of(use.views));
}

/// Options that change the arithmetic, which relevance does not support.
void check_arithmetic(const cxxopts::ParseResult& arguments, const ChosenView& chosen) {
  const View view = chosen.view;
  if (arguments.count("merge-tokens") && view == View::kRelevance)
    fail_usage(
        "relevance needs a gradient for each patch, which merged patches do not have; with "
        "--merge-tokens expected --method attention or rollout");
  const bool int8 =
      arguments.count("precision") && arguments["precision"].as<std::string>() == "int8";
  if (int8 && (view == View::kRelevance || view == View::kPage))
    fail_usage(view == View::kPage ? "an .html output shows relevance, which" : "relevance",
               " is computed in f32; with --precision int8 the answer shown with it would differ "
               "from it; expected --precision f32, or a picture of --method attention or "
               "rollout");
  for (const char* option : {"merge-tokens", "precision"})
    if (arguments.count(option) && is_of_model(view)) refuse({option, kOfImage}, chosen);
}

View view_of(MapMethod method) {
  switch (method) {
    case MapMethod::kAttention:
      return View::kAttention;
    case MapMethod::kRollout:
      return View::kRollout;
    case MapMethod::kRelevance:
      break;
  }
  return View::kRelevance;
}

/// The view that an option of its own asks for.
std::optional<View> given_sheet(const cxxopts::ParseResult& arguments) {
  std::optional<View> sheet;
  for (const auto& [name, view] :
       {std::pair{"grid", View::kGrid}, std::pair{"matrix", View::kMatrix},
        std::pair{"positions-similarity", View::kPositions},
        std::pair{"filters", View::kFilters}}) {
    if (arguments.count(name) == 0) continue;
    if (sheet)
      fail_usage(
          "--grid, --matrix, --positions-similarity and --filters are different pictures, "
          "give one of them");
    sheet = view;
  }
  return sheet;
}

}  // namespace

ChosenView choose_view(const cxxopts::ParseResult& arguments, FileKind kind) {
  if (const auto sheet = given_sheet(arguments)) {
    if (kind == FileKind::kPage)
      fail_usage(
          "an .html output holds every layer and head already; give a picture's name for "
          "--grid, --matrix, --positions-similarity or --filters");
    return {*sheet};
  }
  if (kind == FileKind::kPage) return {View::kPage};
  if (arguments.count("method"))
    return {view_of(parse_choice<MapMethod>("--method", arguments["method"].as<std::string>()))};
  if (arguments.count("class")) return {View::kRelevance, false, "--class"};
  for (const char* option : {"layer", "head", "query"})
    if (arguments.count(option)) return {View::kAttention, false, std::string("--") + option};
  return {View::kRelevance, true};
}

void check_options(const cxxopts::ParseResult& arguments, FileKind kind, const ChosenView& chosen) {
  const bool numbers = kind == FileKind::kNumpy || kind == FileKind::kJson;
  for (const OptionUse& use : kUses) {
    if (arguments.count(use.option) == 0) continue;
    if ((use.views & bit(chosen.view)) == 0) refuse(use, chosen);
    if (use.look && numbers)
      fail_usage("--", use.option,
                 " has no effect on numbers (.npy, .json); it applies to pictures (.png, .jpg, "
                 ".svg, .pdf)");
  }
  if (arguments.count("head-fusion") && arguments.count("head"))
    fail_usage(
        "--head-fusion has no effect with --head, which chooses the head or how heads are "
        "fused; give one of them");
  check_arithmetic(arguments, chosen);
  const bool sheet = chosen.view == View::kGrid || chosen.view == View::kMatrix;
  if (sheet && arguments.count("method") && arguments["method"].as<std::string>() != "attention")
    fail_usage("--grid and --matrix show layers and heads one by one, expected --method attention");
}

void check_default_options(const cxxopts::ParseResult& arguments) {
  const ChosenView attention{View::kAttention};
  for (const OptionUse& use : kUses)
    if (arguments.count(use.option) && (use.views & kAttention) == 0)
      fail_usage("--", use.option, " has no effect with ", described(attention),
                 ", the default of a model without class relevance; it applies to ",
                 names_of(use.views));
}

}  // namespace vit::tools
