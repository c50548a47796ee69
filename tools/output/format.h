/// Numbers as people read them; format_count is in vit/base/text.h.
#pragma once

#include <cstdint>
#include <string>

#include "vit/base/text.h"

namespace vit::tools {

/// One number through a printf format.
std::string formatted(const char* format, double value);

/// "346.3 MB", in powers of ten.
std::string format_bytes(std::uint64_t bytes);

}  // namespace vit::tools
