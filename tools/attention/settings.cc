#include "tools/attention/settings.h"

#include <charconv>
#include <cmath>
#include <filesystem>

#include "tools/attention/option_table.h"
#include "tools/cli/check_output.h"
#include "tools/cli/image_input.h"
#include "tools/cli/word_options.h"

namespace vit::tools {
namespace {

using interpret::Query;
using interpret::QueryKind;

template <typename T>
std::optional<T> number_in(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

double parse_range(std::string_view option, std::string_view text, double least, double most) {
  const auto value = number_in<double>(text);
  if (!value || !std::isfinite(*value) || *value < least || *value > most)
    fail_usage("option '", option, "' got '", text, "', expected a number from ", least, " to ",
               most);
  return *value;
}

/// Whether there is one query of this kind, which its name says.
bool is_its_name(QueryKind kind) {
  return kind == QueryKind::kClass || kind == QueryKind::kDistillation ||
         kind == QueryKind::kMean || kind == QueryKind::kPool;
}

/// "register:2"
std::optional<Query> register_query(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == text.npos || text.substr(0, colon) != to_string(QueryKind::kRegister))
    return std::nullopt;
  const auto index = number_in<size_t>(text.substr(colon + 1));
  if (!index) return std::nullopt;
  return Query{.kind = QueryKind::kRegister, .index = *index};
}

/// "x:12,y:34"
std::optional<Query> pixel_query(std::string_view text) {
  const size_t comma = text.find(',');
  if (!text.starts_with("x:") || comma == text.npos) return std::nullopt;
  const std::string_view rest = text.substr(comma + 1);
  if (!rest.starts_with("y:")) return std::nullopt;
  const auto x = number_in<double>(text.substr(2, comma - 2));
  const auto y = number_in<double>(rest.substr(2));
  if (!x || !y || *x < 0.0 || *y < 0.0) return std::nullopt;
  return Query{.kind = QueryKind::kPixel, .x = *x, .y = *y};
}

/// "3,4"
std::optional<Query> patch_query(std::string_view text) {
  const size_t comma = text.find(',');
  if (comma == text.npos) return std::nullopt;
  const auto row = number_in<size_t>(text.substr(0, comma));
  const auto col = number_in<size_t>(text.substr(comma + 1));
  if (!row || !col) return std::nullopt;
  return Query{.kind = QueryKind::kPatch, .row = *row, .col = *col};
}

void parse_layer(const std::string& text, MapSettings& map) {
  if (text == "all") {
    map.all_layers = true;
    return;
  }
  map.layer = text == "last" ? std::optional<long>(-1) : number_in<long>(text);
  if (!map.layer)
    fail_usage("option '--layer' got '", text,
               "', expected a number from 0, a negative one from the last, or all");
}

void parse_head_choice(const std::string& text, MapSettings& map) {
  if (text == "all") {
    map.all_heads = true;
  } else if (const auto head = number_in<size_t>(text)) {
    map.head = *head;
  } else if (const auto fusion = enum_named<interpret::HeadFusion>(text)) {
    map.fusion = *fusion;
  } else {
    fail_usage("option '--head' got '", text, "', expected a number from 0, mean, max, min or all");
  }
}

MapSettings parse_map(const cxxopts::ParseResult& arguments, Sheet sheet) {
  MapSettings map;
  const auto text = [&](const char* name) { return arguments[name].as<std::string>(); };
  map.fusion = parse_choice<interpret::HeadFusion>("--head-fusion", text("head-fusion"));
  if (arguments.count("layer")) parse_layer(text("layer"), map);
  if (arguments.count("head")) parse_head_choice(text("head"), map);
  if (arguments.count("query")) map.query = parse_query(text("query"));
  map.discard = parse_range("--discard", text("discard"), 0.0, 0.999);
  map.start_layer = parse_count("--start-layer", text("start-layer"), 0, 1000);
  if (sheet == Sheet::kGrid) map.all_layers = map.all_heads = true;
  return map;
}

LookSettings parse_look(const cxxopts::ParseResult& arguments) {
  LookSettings look;
  const auto text = [&](const char* name) { return arguments[name].as<std::string>(); };
  if (arguments.count("threshold"))
    look.threshold = parse_range("--threshold", text("threshold"), 0.0, 1.0);
  look.clip_percentile = parse_range("--clip-percentile", text("clip-percentile"), 1.0, 100.0);
  look.alpha = parse_range("--alpha", text("alpha"), 0.0, 1.0);
  look.colormap = parse_choice<Colormap>("--colormap", text("colormap"));
  look.upsampling = parse_choice<Upsampling>("--upsample", text("upsample"));
  look.bare = arguments.count("bare") != 0;
  return look;
}

FileKind kind_of(const std::string& output) {
  using enum FileKind;
  return choose_by_ending<FileKind>(output, {{".png", kPicture},
                                             {".jpg", kPicture},
                                             {".jpeg", kPicture},
                                             {".svg", kPicture},
                                             {".pdf", kPicture},
                                             {".html", kPage},
                                             {".npy", kNumpy},
                                             {".json", kJson}});
}

Sheet parse_sheet(const cxxopts::ParseResult& arguments) {
  Sheet sheet = Sheet::kMap;
  size_t given = 0;
  for (const auto& [name, value] :
       {std::pair{"grid", Sheet::kGrid}, std::pair{"matrix", Sheet::kMatrix},
        std::pair{"positions-similarity", Sheet::kPositions},
        std::pair{"filters", Sheet::kFilters}}) {
    if (arguments.count(name) == 0) continue;
    sheet = value;
    ++given;
  }
  if (given > 1)
    fail_usage(
        "--grid, --matrix, --positions-similarity and --filters are different pictures, "
        "give one of them");
  return sheet;
}

void check(const AttentionSettings& settings) {
  const bool of_model = settings.sheet == Sheet::kPositions || settings.sheet == Sheet::kFilters;
  if (of_model && !settings.files.empty())
    fail_usage("this is a picture of the model alone, expected no image, got '",
               settings.files.front(), "'");
  if (!of_model && settings.files.empty())
    fail_usage("no image given, expected files or folders, or - for one on standard input");
  check_standard_input(settings.files);
  if (settings.output.empty())
    fail_usage(
        "no output given, expected -o FILE that ends in .png, .jpg, .svg, .pdf, .html, .npy or "
        ".json");
  if (settings.kind == FileKind::kPage && settings.sheet != Sheet::kMap)
    fail_usage(
        "an .html output holds every layer and head already; give a picture's name for "
        "--grid, --matrix, --positions-similarity or --filters");
}

/// --grid and --matrix show attention as it is.
std::optional<MapMethod> method_of(const cxxopts::ParseResult& arguments,
                                   const ChosenView& chosen) {
  const bool sheet = chosen.view == View::kGrid || chosen.view == View::kMatrix;
  if (sheet && arguments.count("method") && arguments["method"].as<std::string>() != "attention")
    fail_usage("--grid and --matrix show layers and heads one by one, expected --method attention");
  if (chosen.by_default) return std::nullopt;
  if (chosen.view == View::kRollout) return MapMethod::kRollout;
  return chosen.view == View::kRelevance ? MapMethod::kRelevance : MapMethod::kAttention;
}

void add_map_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  const auto text_or = [&](const char* value) { return text()->default_value(value); };
  options.add_options(
      "Map",
      {
          {"method",
           "attention: one layer; rollout: through all layers; relevance: evidence for a class "
           "(default: relevance, or attention with --layer, --head or --query)",
           text(), "HOW"},
          {"layer", "layer from 0, or -1 for the last; all: every layer on a sheet", text(),
           "N|all"},
          {"head", "head from 0, or mean, max, min over the heads; all: every head on a sheet",
           text(), "N|mean|all"},
          {"query",
           "query token: cls, distillation, register:N, mean, pool, ROW,COL of the patch grid, or "
           "x:PX,y:PX of the image",
           text(), "TOKEN"},
          {"head-fusion", "fusion of the heads: mean, max or min", text_or("mean"), "HOW"},
          {"start-layer", "first layer of --method rollout or relevance", text_or("0"), "N"},
          {"discard",
           "share of the smallest weights of each query that --method rollout sets to zero",
           text_or("0"), "F"},
          {"class",
           "class for relevance, by name, WordNet id or number (default: the first answer); for a "
           "model with a text tower any words; several are shown side by side",
           text(), "NAME|ID|N|WORDS"},
      });
}

void add_picture_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  const auto text_or = [&](const char* value) { return text()->default_value(value); };
  options.add_options(
      "Picture",
      {
          {"grid", "all layers and heads on one sheet"},
          {"matrix", "the attention matrix: a row per query, a column per key"},
          {"positions-similarity", "similarity of the position embeddings (takes no image)"},
          {"filters", "principal components of the patch projection (takes no image)"},
          {"bare", "the map over the image alone, without title, colour bar and margins"},
          {"threshold", "outline around the fewest patches that hold this share of the mass",
           text(), "M"},
          {"clip-percentile", "percentile of the patches that gets the last colour",
           text_or("99.5"), "P"},
          {"colormap", "inferno, viridis, turbo or gray", text_or("inferno"), "NAME"},
          {"alpha", "opacity of the colours, 0 to 1", text_or("0.6"), "A"},
          {"upsample", "interpolation between patches: nearest, bilinear or bicubic",
           text_or("bicubic"), "HOW"},
      });
}

}  // namespace

Query parse_query(std::string_view text) {
  const auto kind = enum_named<QueryKind>(text);
  if (kind && is_its_name(*kind)) return {.kind = *kind};
  if (const auto query = register_query(text)) return *query;
  if (const auto pixel = pixel_query(text)) return *pixel;
  if (const auto patch = patch_query(text)) return *patch;
  fail_usage("option '--query' got '", text,
             "', expected cls, distillation, register:N, mean, pool, ROW,COL of the patch grid or "
             "x:PX,y:PX of the image");
}

void add_attention_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options("", {
                              {"m,model", kModelHelp, text(), "MODEL"},
                              {"o,output",
                               "a picture (.png, .jpg, .svg, .pdf), an interactive page (.html), "
                               "or numbers (.npy, .json); "
                               "for several images OUT-NAME each, and an index page",
                               text(), "OUT"},
                          });
  add_map_options(options);
  add_picture_options(options);
  add_quiet_option(options);
  add_word_options(options);
  add_model_options(options);
  add_merge_option(options);
}

AttentionSettings parse_attention(const cxxopts::ParseResult& arguments) {
  AttentionSettings settings;
  settings.model = parse_model_settings(arguments);
  settings.files = arguments.unmatched();
  if (arguments.count("output")) {
    settings.output = arguments["output"].as<std::string>();
    settings.kind = kind_of(settings.output);
  }
  settings.sheet = parse_sheet(arguments);
  settings.map = parse_map(arguments, settings.sheet);
  settings.targets = values_of(arguments, "class");
  settings.look = parse_look(arguments);
  check(settings);
  const ChosenView chosen = choose_view(arguments, settings.kind, settings.sheet);
  check_options(arguments, settings.kind, chosen);
  settings.method = method_of(arguments, chosen);
  return settings;
}

}  // namespace vit::tools
