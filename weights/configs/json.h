/// JSON files with messages for people: which file, which field, what was expected.
#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vit::weights {

/// What a document may take. A value needs up to 100 bytes of memory, however short its text.
struct JsonLimits {
  size_t bytes = 16 << 20;  ///< the largest configs name 100,000 tensors in 10 MB
  size_t values = 500'000;
};

/// The object in a file, or an Error naming it.
nlohmann::json read_json(const std::filesystem::path& path, const JsonLimits& limits = {});
/// The object in `text`; `where` opens the message.
nlohmann::json parse_json(std::string_view text, const std::string& where,
                          const JsonLimits& limits = {});
/// The same for any value.
nlohmann::json parse_json_value(std::string_view text, const std::string& where,
                                const JsonLimits& limits = {});
/// The same, but null for text that is not valid or beyond the limits.
nlohmann::json parse_json_if_valid(std::string_view text);

/// What the parser found at a byte of `text`, counted from 1: "is not valid JSON: …".
std::string describe_json_error(std::string_view text, size_t byte,
                                const nlohmann::json::exception& error);

/// Looks fields up in one JSON object. A field that is absent or null is nothing; one of the wrong
/// kind is an Error naming file and field.
class Fields {
 public:
  Fields(const nlohmann::json& object, std::string where);

  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::optional<size_t> size(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;
  std::optional<bool> flag(std::string_view name) const;
  std::optional<std::string> text(std::string_view name) const;
  std::optional<std::vector<double>> numbers(std::string_view name) const;
  std::optional<std::array<float, 3>> triple(std::string_view name) const;
  std::optional<Fields> object(std::string_view name) const;
  /// Null if absent.
  const nlohmann::json* find(std::string_view name) const;

  const std::string& where() const { return where_; }
  [[noreturn]] void refuse(std::string_view name, std::string_view expected) const;

 private:
  const nlohmann::json* object_;
  std::string where_;
};

}  // namespace vit::weights
