#include "weights/configs/json.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "vit/base/error.h"
#include "weights/formats/mapped_file.h"

namespace vit::weights {
namespace {

using nlohmann::json;

// The largest in the wild name 21,843 classes in about 2 MB.
constexpr size_t kLargestJson = 16 << 20;
constexpr double kLargestExact = 9007199254740992.0;  // 2^53
constexpr size_t kLongestQuote = 60;
constexpr int kDeepest = 64;  // the library's writer calls itself once per level, as ours do

}  // namespace

json read_json(const std::filesystem::path& path) {
  const auto file = map_file(path);
  const auto bytes = file->bytes();
  return parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string());
}

json parse_json(std::string_view text, const std::string& where) {
  if (text.size() > kLargestJson)
    fail(where, ": ", text.size(), " bytes of JSON, at most ", kLargestJson);
  try {
    json content = json::parse(text, [&](int depth, json::parse_event_t, json&) {
      if (depth > kDeepest) fail(where, ": JSON nested more than ", kDeepest, " deep");
      return true;
    });
    if (!content.is_object()) fail(where, ": is not a JSON object");
    return content;
  } catch (const json::exception& error) {
    fail(where, ": is not valid JSON: ", error.what());
  }
}

Fields::Fields(const json& object, std::string where) : object_(&object), where_(std::move(where)) {
  if (!object.is_object()) fail(where_, ": is not a JSON object");
}

const json* Fields::find(std::string_view name) const {
  const auto found = object_->find(name);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

void Fields::refuse(std::string_view name, std::string_view expected) const {
  const json* value = find(name);
  std::string got =
      value == nullptr ? "nothing" : value->dump(-1, ' ', false, json::error_handler_t::replace);
  if (got.size() > kLongestQuote) got = got.substr(0, kLongestQuote) + "…";
  fail(where_, ": field '", name, "' is ", got, ", expected ", expected);
}

std::optional<size_t> Fields::size(std::string_view name) const {
  const json* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_number()) refuse(name, "a whole number");
  const double number = value->get<double>();
  if (!(number >= 0.0 && number <= kLargestExact) || std::floor(number) != number)
    refuse(name, "a whole number");
  return static_cast<size_t>(number);
}

std::optional<double> Fields::number(std::string_view name) const {
  const json* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_number()) refuse(name, "a number");
  return value->get<double>();
}

std::optional<bool> Fields::flag(std::string_view name) const {
  const json* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_boolean()) refuse(name, "true or false");
  return value->get<bool>();
}

std::optional<std::string> Fields::text(std::string_view name) const {
  const json* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_string()) refuse(name, "a string");
  return value->get<std::string>();
}

std::optional<std::vector<double>> Fields::numbers(std::string_view name) const {
  const json* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_array()) refuse(name, "a list of numbers");
  std::vector<double> numbers;
  for (const auto& element : *value) {
    if (!element.is_number()) refuse(name, "a list of numbers");
    numbers.push_back(element.get<double>());
  }
  return numbers;
}

std::optional<std::array<float, 3>> Fields::triple(std::string_view name) const {
  const auto values = numbers(name);
  if (!values) return {};
  if (values->size() != 3) refuse(name, "three numbers");
  std::array<float, 3> triple{};
  std::transform(values->begin(), values->end(), triple.begin(),
                 [](double number) { return static_cast<float>(number); });
  return triple;
}

std::optional<Fields> Fields::object(std::string_view name) const {
  const json* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_object()) refuse(name, "an object");
  return Fields(*value, where_ + ": " + std::string(name));
}

}  // namespace vit::weights
