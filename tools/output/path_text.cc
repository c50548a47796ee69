#include "tools/output/path_text.h"

#include "tools/output/unicode.h"

namespace vit::tools {

bool is_utf8(std::string_view text) {
  while (!text.empty())
    if (!take_code_point(text)) return false;
  return true;
}

std::string as_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const std::string_view before = text;
    if (take_code_point(text))
      valid += before.substr(0, before.size() - text.size());
    else
      valid += "\xEF\xBF\xBD";
  }
  return valid;
}

void put_path(Json& json, const std::string& key, const std::string& path) {
  json[key] = path;
  if (!is_utf8(path)) json[key + "_hex"] = to_hex(path);
}

std::optional<std::string> path_in(const Json& json, const std::string& key) {
  const auto text = [&](const std::string& name) -> std::optional<std::string> {
    const auto found = json.find(name);
    if (found == json.end() || !found->is_string()) return std::nullopt;
    return found->get<std::string>();
  };
  if (const auto hex = text(key + "_hex")) return from_hex(*hex);
  return text(key);
}

}  // namespace vit::tools
