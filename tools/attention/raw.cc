#include "tools/attention/raw.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "tools/output/numpy.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

using Json = nlohmann::ordered_json;

std::vector<size_t> sheet_shape(size_t layers, size_t heads, size_t rows, size_t cols) {
  if (layers == 1 && heads == 1) return {rows, cols};
  return {layers, heads, rows, cols};
}

Json opening(const std::string& model, const ImageAnalysis& analysis) {
  const auto& layout = analysis.maps.layout;
  Json json;
  json["image"] = analysis.file;
  json["model"] = model;
  json["predictions"] = Json::array();
  for (const Prediction& p : analysis.predictions)
    json["predictions"].push_back(
        {{"index", p.index}, {"label", p.label}, {"probability", p.probability}});
  json["grid"] = {{"rows", layout.grid.rows}, {"cols", layout.grid.cols}};
  json["patch"] = {{"height", layout.patch_height}, {"width", layout.patch_width}};
  json["tokens"] = Json::array();
  for (size_t i = 0; i < layout.first_patch(); ++i)
    json["tokens"].push_back(interpret::token_name(layout, i));
  return json;
}

Json map_json(const interpret::TokenLayout& layout, const TokenMap& map) {
  Json json{{"layer", map.layer}, {"head", map.head}, {"prefix", Json::object()}};
  for (size_t i = 0; i < layout.first_patch(); ++i)
    json["prefix"][interpret::token_name(layout, i)] = map.tokens[i];
  if (const auto& target = map.target)
    json["class"] = {
        {"index", target->index}, {"label", target->label}, {"probability", target->probability}};
  const auto patches = interpret::patches_of(layout, map.tokens);
  json["patches"] = Json::array();
  for (size_t row = 0; row < layout.grid.rows; ++row) {
    const auto cells = patches.subspan(row * layout.grid.cols, layout.grid.cols);
    json["patches"].push_back(std::vector<float>(cells.begin(), cells.end()));
  }
  return json;
}

/// Bytes of a file name that are not UTF-8 become U+FFFD.
std::string text_of(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string maps_npy(const ImageAnalysis& analysis, const MapSheet& sheet) {
  std::vector<float> numbers;
  for (const auto& row : sheet.rows)
    for (const TokenMap& map : row) {
      const auto patches = interpret::patches_of(analysis.maps.layout, map.tokens);
      numbers.insert(numbers.end(), patches.begin(), patches.end());
    }
  const GridSize grid = analysis.maps.layout.grid;
  const size_t heads = sheet.rows.front().size();
  for (const auto& row : sheet.rows)
    if (row.size() != heads)
      fail("an .npy array needs the same number of heads in every row, but '", row.front().layer,
           "' has ", row.size(), " and '", sheet.rows.front().front().layer, "' has ", heads,
           "; give a name that ends in .json");
  return npy_bytes(numbers,
                   sheet_shape(sheet.rows.size(), sheet.rows.front().size(), grid.rows, grid.cols));
}

std::string matrices_npy(const std::vector<std::vector<TokenMatrix>>& sheet) {
  std::vector<float> numbers;
  for (const auto& row : sheet)
    for (const TokenMatrix& matrix : row)
      numbers.insert(numbers.end(), matrix.weights.data(),
                     matrix.weights.data() + matrix.weights.size());
  const size_t tokens = sheet.front().front().weights.rows();
  return npy_bytes(numbers, sheet_shape(sheet.size(), sheet.front().size(), tokens, tokens));
}

std::string maps_json(const std::string& model, const ImageAnalysis& analysis,
                      const MapSheet& sheet) {
  Json json = opening(model, analysis);
  json["query"] = describe(sheet.query);
  json["maps"] = Json::array();
  for (const auto& row : sheet.rows)
    for (const TokenMap& map : row) json["maps"].push_back(map_json(analysis.maps.layout, map));
  return text_of(json);
}

std::string matrices_json(const std::string& model, const ImageAnalysis& analysis,
                          const std::vector<std::vector<TokenMatrix>>& sheet) {
  Json json = opening(model, analysis);
  json["matrices"] = Json::array();
  for (const auto& row : sheet)
    for (const TokenMatrix& matrix : row) {
      Json one{{"layer", matrix.layer}, {"head", matrix.head}, {"weights", Json::array()}};
      for (size_t r = 0; r < matrix.weights.rows(); ++r) {
        const auto weights = matrix.weights.view().row_span(r);
        one["weights"].push_back(std::vector<float>(weights.begin(), weights.end()));
      }
      json["matrices"].push_back(std::move(one));
    }
  return text_of(json);
}

}  // namespace vit::tools
