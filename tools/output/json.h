/// JSON of the results.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "vit/base/recipe.h"
#include "vit/model/classifier.h"

namespace vit::tools {

/// Keys in the order written; float, so that 0.1f is written 0.1 and not 0.10000000149011612.
using Json = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool,
                                  std::int64_t, std::uint64_t, float>;

/// On one line. Bytes that are not UTF-8 become U+FFFD.
std::string dump(const Json& json);

Json to_json(const Recipe& recipe);
Json to_json(std::span<const Prediction> predictions);
/// The predictions of such an array, up to the first damaged one.
std::vector<Prediction> predictions_in(const Json& array);

}  // namespace vit::tools
