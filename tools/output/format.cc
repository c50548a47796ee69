#include "tools/output/format.h"

#include <cmath>
#include <cstdio>

namespace vit::tools {

std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string format_bytes(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < 1000) return std::to_string(bytes) + " bytes";
  if (bytes < 999'950) return formatted("%.1f kB", value / 1e3);
  if (bytes < 999'950'000) return formatted("%.1f MB", value / 1e6);
  return formatted("%.2f GB", value / 1e9);
}

std::string format_percent(std::optional<double> share, int digits) {
  if (!share) return "–";
  char text[64];
  std::snprintf(text, sizeof text, "%.*f %%", digits, 100.0 * *share);
  return text;
}

std::string format_time(double seconds) {
  const auto whole = static_cast<unsigned long>(std::lround(seconds));
  char text[64];
  if (whole >= 3600)
    std::snprintf(text, sizeof text, "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60, whole % 60);
  else
    std::snprintf(text, sizeof text, "%lu:%02lu", whole / 60, whole % 60);
  return text;
}

}  // namespace vit::tools
