/// Paths in files that must be UTF-8, while a path may be any bytes. Their digits are made by
/// vit/base/encoding.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/output/json.h"
#include "vit/base/encoding.h"

namespace vit::tools {

bool is_utf8(std::string_view text);
/// Bytes that are not UTF-8 become U+FFFD.
std::string as_utf8(std::string_view text);

/// The field `key`, and behind it its bytes as `key`_hex where the path is not UTF-8.
void put_path(Json& json, const std::string& key, const std::string& path);
/// What put_path() wrote; none where there is no such field.
std::optional<std::string> path_in(const Json& json, const std::string& key);

}  // namespace vit::tools
