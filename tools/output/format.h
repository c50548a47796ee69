/// Readable numbers; format_count is in vit/base/text.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "vit/base/text.h"

namespace vit::tools {

/// One number through a printf format.
std::string formatted(const char* format, double value);

/// "346.3 MB", in powers of ten.
std::string format_bytes(std::uint64_t bytes);

/// "12.34 %" of 0.1234, with this many digits after the point; a dash for none.
std::string format_percent(std::optional<double> share, int digits = 2);

/// "1:02:03" or "2:03", rounded to seconds.
std::string format_time(double seconds);

}  // namespace vit::tools
