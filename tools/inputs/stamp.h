/// Size and time of image files, by which changes are noticed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/inputs/inputs.h"

namespace vit::tools {

struct Stamp {
  std::uint64_t bytes = 0;
  std::int64_t time = 0;  ///< of the last change, nanoseconds since 1970; 0: unknown
};

/// Zeros if there is no file. A member of an archive has the time of the archive; frames and boxes
/// have size and time of the video or the image.
Stamp stamp_of(const Input& input);

enum class Freshness { kSame, kChanged, kGone };

/// Whether the image of a row is still the one that had this stamp, by size and time; of a member
/// of an archive, by the time of the archive. An image with an unknown time counts as the same.
Freshness freshness_of(const std::string& path, const Stamp& before);
/// The same for the input that a row names.
Freshness freshness_of(const Input& input, const Stamp& before);

/// "2024-05-17T08:30:00.123456Z", and back; none if it is not such a time.
std::string time_text(std::int64_t nanoseconds);
std::optional<std::int64_t> parse_time(std::string_view text);

}  // namespace vit::tools
