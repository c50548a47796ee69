#include "tools/output/reason.h"

#include <new>

#include "vit/base/error.h"

namespace vit::tools {

std::string reason_of(const std::exception& error, std::string_view place) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "out of memory";
  const auto* known = dynamic_cast<const Error*>(&error);
  const std::string text(known != nullptr ? known->reason_at(place) : error.what());
  return text.empty() ? "unknown error" : text;
}

}  // namespace vit::tools
