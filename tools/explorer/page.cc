#include "tools/explorer/page.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tools/draw/canvas.h"
#include "tools/explorer/packing.h"
#include "tools/explorer/parts.h"
#include "tools/output/html.h"
#include "vit/interpret/pattern.h"
#include "vit/interpret/statistics.h"

namespace vit::tools {
namespace {

using Json = nlohmann::ordered_json;
using interpret::AttentionMaps;

/// As many digits as a screen needs, to keep the page small.
double rounded(double value, double unit) {
  return std::round(value / unit) * unit;
}

Json head_facts(ConstMatrixView head, const interpret::TokenLayout& layout) {
  const interpret::Pattern pattern = interpret::recognize(head, layout);
  return {{"distance", rounded(interpret::attention_distance(head, layout), 0.1)},
          {"entropy", rounded(interpret::attention_entropy(head), 0.01)},
          {"prefix", rounded(interpret::mean_prefix_mass(head, layout), 1e-4)},
          {"pattern", interpret::describe(pattern, layout)},
          {"kind", to_string(pattern.kind)},
          {"score", rounded(pattern.score, 0.01)}};
}

Json all_heads(const AttentionMaps& maps) {
  Json layers = Json::array();
  for (size_t layer = 0; layer < maps.layers; ++layer) {
    Json heads = Json::array();
    for (size_t head = 0; head < maps.heads; ++head)
      heads.push_back(head_facts(maps.head(layer, head), maps.layout));
    layers.push_back(std::move(heads));
  }
  return layers;
}

/// As the script names queries: a token's number, "mean" or "pool".
Json query_name(const interpret::Query& query) {
  if (query.kind == interpret::QueryKind::kPool) return "pool";
  if (query.kind == interpret::QueryKind::kMean) return "mean";
  return 0;
}

Json colormaps() {
  Json maps = Json::array();
  for (const auto& [map, name] : enum_names(Colormap{})) {
    std::string bytes;
    for (const Colour& colour : palette(map))
      for (const std::uint8_t channel : colour) bytes += static_cast<char>(channel);
    maps.push_back({{"name", name}, {"colours", base64(bytes)}});
  }
  return maps;
}

std::vector<float> rounded_tokens(std::span<const float> tokens) {
  const float largest = *std::max_element(tokens.begin(), tokens.end());
  const double unit = std::max(1e-5 * largest, 1e-12);
  std::vector<float> out;
  for (const float value : tokens) out.push_back(static_cast<float>(rounded(value, unit)));
  return out;
}

Json facts(const ExplorerInput& input) {
  const ImageAnalysis& analysis = input.analysis;
  const AttentionMaps& maps = analysis.maps;
  const auto& layout = maps.layout;
  const GridSize grid = layout.grid;
  Json json;
  json["title"] = answer_text(input.model, analysis, input.answers);
  json["subtitle"] = std::filesystem::path(analysis.file).filename().string() + ", " + input.model +
                     ", " + std::to_string(grid.rows) + " x " + std::to_string(grid.cols) +
                     " patches, " + std::to_string(maps.layers) + " layers of " +
                     std::to_string(maps.heads) + " heads";
  json["layers"] = maps.layers;
  json["heads_per_layer"] = maps.heads;
  json["rows"] = grid.rows;
  json["cols"] = grid.cols;
  json["patch"] = {{"width", layout.patch_width}, {"height", layout.patch_height}};
  json["prefix"] = Json::array();
  for (size_t i = 0; i < layout.first_patch(); ++i)
    json["prefix"].push_back(interpret::token_name(layout, i));
  json["query"] = query_name(interpret::default_query(input.classifier.config()));
  json["colormaps"] = colormaps();
  json["answers"] = Json::array();
  for (const Prediction& p : input.answers)
    json["answers"].push_back({{"label", p.label}, {"probability", rounded(p.probability, 1e-5)}});
  json["relevance"] = Json::array();
  for (const ClassRelevance& one : input.relevance)
    json["relevance"].push_back({{"label", one.label}, {"tokens", rounded_tokens(one.tokens)}});
  json["compare"] =
      input.relevance.size() > 1 && (input.compare || input.classifier.config().head.unit_features);
  json["stats"] = all_heads(maps);
  if (!maps.pooling.empty()) {
    json["pool"] = Json::array();
    for (size_t h = 0; h < maps.pooling.rows(); ++h)
      json["pool"].push_back(rounded_tokens(maps.pooling.view().row_span(h)));
  }
  return json;
}

/// JSON inside <script> must not close it.
std::string script_json(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (size_t at = text.find('<'); at != text.npos; at = text.find('<', at + 1))
    text.replace(at, 1, "\\u003c");
  return text;
}

/// The template with each {{NAME}} replaced; inserted texts are not searched again.
std::string filled(std::string_view page,
                   const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string out;
  while (true) {
    const size_t open = page.find("{{");
    if (open == page.npos) return out.append(page);
    const size_t close = page.find("}}", open);
    const std::string_view name = page.substr(open + 2, close - open - 2);
    out.append(page.substr(0, open));
    for (const auto& [key, value] : values)
      if (key == name) out += value;
    page.remove_prefix(close + 2);
  }
}

}  // namespace

std::string explorer_page(const ExplorerInput& input) {
  const std::string title = answer_text(input.model, input.analysis, input.answers);
  return filled(kExplorerPage, {{"TITLE", html_escaped(title)},
                                {"STYLE", std::string(kExplorerStyle)},
                                {"PHOTO", base64(encode_picture(input.analysis.view, ".jpg"))},
                                {"FACTS", script_json(facts(input))},
                                {"ATTENTION", base64(packed_attention(input.analysis.maps))},
                                {"SCRIPT", std::string(kExplorerScript)}});
}

std::string explorer_json(const ExplorerInput& input) {
  Json json;
  json["facts"] = facts(input);
  json["attention"] = base64(plain_attention(input.analysis.maps));
  json["photo"] = base64(encode_picture(input.analysis.view, ".jpg"));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

InlineParts explorer_inline_parts() {
  const std::string page = filled(kExplorerPage, {{"STYLE", std::string(kExplorerStyle)},
                                                  {"SCRIPT", std::string(kExplorerScript)}});
  const auto between = [&](std::string_view open, std::string_view close) {
    const size_t first = page.find(open) + open.size();
    return page.substr(first, page.find(close, first) - first);
  };
  return {between("<style>", "</style>"), between("<script>", "</script>")};
}

}  // namespace vit::tools
