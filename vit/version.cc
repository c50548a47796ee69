#include "vit/version.h"

namespace vit {

std::string_view version() {
  return kVersion;
}

}  // namespace vit
