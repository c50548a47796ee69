#include "tools/attention/settings.h"

#include <filesystem>

#include "tools/attention/option_table.h"
#include "tools/cli/check_output.h"
#include "tools/cli/image_input.h"
#include "tools/cli/word_options.h"
#include "vit/base/text.h"

namespace vit::tools {
namespace {

interpret::Query parse_query(std::string_view text) {
  if (const auto query = to_query(text)) return *query;
  fail_usage("option '--query' got '", text,
             "', expected cls, distillation, register:N, mean, pool, ROW,COL of the patch grid or "
             "x:PX,y:PX of the image");
}

void parse_layer(const std::string& text, MapSettings& map) {
  if (text == "all") {
    map.all_layers = true;
    return;
  }
  map.layer = text == "last" ? std::optional<long>(-1) : to_number<long>(text);
  if (!map.layer)
    fail_usage("option '--layer' got '", text,
               "', expected a number from 0, a negative one from the last, or all");
}

void parse_head_choice(const std::string& text, MapSettings& map) {
  if (text == "all") {
    map.all_heads = true;
  } else if (const auto head = to_number<size_t>(text)) {
    map.head = *head;
  } else if (const auto fusion = enum_named<interpret::HeadFusion>(text)) {
    map.fusion = *fusion;
  } else {
    fail_usage("option '--head' got '", text, "', expected a number from 0, mean, max, min or all");
  }
}

MapSettings parse_map(const cxxopts::ParseResult& arguments, View view) {
  MapSettings map;
  const auto text = [&](const char* name) { return arguments[name].as<std::string>(); };
  map.fusion = parse_choice<interpret::HeadFusion>("--head-fusion", text("head-fusion"));
  if (arguments.count("layer")) parse_layer(text("layer"), map);
  if (arguments.count("head")) parse_head_choice(text("head"), map);
  if (arguments.count("query")) map.query = parse_query(text("query"));
  map.discard = parse_number("--discard", text("discard"), 0.0, 0.999);
  map.start_layer = parse_count("--start-layer", text("start-layer"), 0, 1000);
  if (view == View::kGrid) map.all_layers = map.all_heads = true;
  return map;
}

LookSettings parse_look(const cxxopts::ParseResult& arguments) {
  LookSettings look;
  const auto text = [&](const char* name) { return arguments[name].as<std::string>(); };
  if (arguments.count("threshold"))
    look.threshold = parse_number("--threshold", text("threshold"), 0.0, 1.0);
  look.clip_percentile = parse_number("--clip-percentile", text("clip-percentile"), 1.0, 100.0);
  look.alpha = parse_number("--alpha", text("alpha"), 0.0, 1.0);
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

void check(const AttentionSettings& settings) {
  const bool of_model = is_of_model(settings.view);
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

MapMethod method_of(View view) {
  if (view == View::kRelevance) return MapMethod::kRelevance;
  return view == View::kRollout ? MapMethod::kRollout : MapMethod::kAttention;
}

bool is_of_model(View view) {
  return view == View::kPositions || view == View::kFilters;
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
  const ChosenView chosen = choose_view(arguments, settings.kind);
  settings.view = chosen.view;
  settings.by_default = chosen.by_default;
  settings.map = parse_map(arguments, settings.view);
  settings.targets = values_of(arguments, "class");
  settings.look = parse_look(arguments);
  check(settings);
  check_options(arguments, settings.kind, chosen);
  return settings;
}

}  // namespace vit::tools
