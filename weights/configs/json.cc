#include "weights/configs/json.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "vit/base/error.h"
#include "weights/formats/mapped_file.h"

namespace vit::weights {
namespace {

using nlohmann::json;

constexpr double kLargestExact = 9007199254740992.0;  // 2^53
constexpr size_t kLongestQuote = 60;
constexpr int kDeepest = 64;  // the library's writer calls itself once per level, as ours do

/// Counts what a document makes the parser build. Throws an Error without a place.
class Counter {
 public:
  explicit Counter(size_t most) : most_(most) {}

  bool operator()(int depth, json::parse_event_t, json&) {
    if (depth > kDeepest) fail("JSON nested more than ", kDeepest, " deep");
    if (++values_ > most_) fail("JSON of more than ", most_, " values");
    return true;
  }

 private:
  size_t most_;
  size_t values_ = 0;
};

/// Throws an Error without a place.
json parse_bounded(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) fail(text.size(), " bytes of JSON, at most ", limits.bytes);
  try {
    return json::parse(text, [counter = Counter(limits.values)](
                                 int depth, json::parse_event_t event, json& value) mutable {
      return counter(depth, event, value);
    });
  } catch (const json::parse_error& error) {
    fail(describe_json_error(text, error.byte, error));
  } catch (const json::exception& error) {
    fail(describe_json_error(text, 0, error));
  }
}

/// "1e999" of "… number overflow parsing '1e999'".
std::string quoted_in(std::string_view message) {
  const size_t first = message.find('\''), last = message.rfind('\'');
  if (first == last) return {};
  return std::string(message.substr(first + 1, std::min(last - first - 1, kLongestQuote)));
}

}  // namespace

std::string describe_json_error(std::string_view text, size_t byte, const json::exception& error) {
  if (dynamic_cast<const json::out_of_range*>(&error) != nullptr)
    return "is not valid JSON: the number " + quoted_in(error.what()) + " is too large";
  if (byte > text.size())
    return "is not valid JSON: cut short at byte " + std::to_string(text.size());
  const std::string_view before = text.substr(0, byte == 0 ? 0 : byte - 1);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  return "is not valid JSON: error at byte " + std::to_string(before.size()) + ", line " +
         std::to_string(line);
}

json read_json(const std::filesystem::path& path, const JsonLimits& limits) {
  const auto file = map_file(path);
  const auto bytes = file->bytes();
  return parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string(),
                    limits);
}

json parse_json(std::string_view text, const std::string& where, const JsonLimits& limits) {
  json content = parse_json_value(text, where, limits);
  if (!content.is_object()) fail_at(where, "is not a JSON object");
  return content;
}

json parse_json_value(std::string_view text, const std::string& where, const JsonLimits& limits) {
  try {
    return parse_bounded(text, limits);
  } catch (const Error& error) {
    fail_at(where, error.what());
  }
}

json parse_json_if_valid(std::string_view text) {
  try {
    return parse_bounded(text, {});
  } catch (const Error&) {
    return {};
  }
}

Fields::Fields(const json& object, std::string where) : object_(&object), where_(std::move(where)) {
  if (!object.is_object()) fail_at(where_, "is not a JSON object");
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
  fail_at(where_, "field '", name, "' is ", got, ", expected ", expected);
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
  if (!std::ranges::all_of(triple, [](float number) { return std::isfinite(number); }))
    refuse(name, "three finite numbers");
  return triple;
}

std::optional<Fields> Fields::object(std::string_view name) const {
  const json* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_object()) refuse(name, "an object");
  return Fields(*value, where_ + ": " + std::string(name));
}

}  // namespace vit::weights
