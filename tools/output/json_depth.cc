#include "tools/output/json_depth.h"

#include <algorithm>
#include <cstddef>

namespace vit::tools {

bool nests_deep(std::string_view json) {
  constexpr std::size_t kMost = 64;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < json.size(); ++at) {
    switch (json[at]) {
      case '"':  // brackets within a string do not count
        for (++at; at < json.size() && json[at] != '"'; ++at) at += json[at] == '\\' ? 1 : 0;
        break;
      case '[':
      case '{':
        if (++depth > kMost) return true;
        break;
      case ']':
      case '}':
        depth -= std::min<std::size_t>(depth, 1);
        break;
      default:
        break;
    }
  }
  return false;
}

}  // namespace vit::tools
