/// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace vit::tools {

/// One number through a printf format.
std::string formatted(const char* format, double value);

/// "346.3 MB", in powers of ten.
std::string format_bytes(std::uint64_t bytes);

/// "86,567,656"
std::string format_count(std::uint64_t count);

}  // namespace vit::tools
