/// Paths, which may be any bytes, in files that must be UTF-8.
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

/// Sets the field `key`, and also `key`_hex with its bytes if the path is not UTF-8.
void put_path(Json& json, const std::string& key, const std::string& path);
/// What put_path() wrote; none if there is no such field.
std::optional<std::string> path_in(const Json& json, const std::string& key);

}  // namespace vit::tools
