/// How deep JSON nests, before it is parsed: each level costs a hundred times its bytes.
#pragma once

#include <string_view>

namespace vit::tools {

/// Whether objects and arrays nest more than 64 deep, which no file that we read needs.
bool nests_deep(std::string_view json);

}  // namespace vit::tools
