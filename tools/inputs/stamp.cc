#include "tools/inputs/stamp.h"

#include <sys/stat.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>

namespace vit::tools {
namespace {

constexpr std::int64_t kPerSecond = 1'000'000'000, kPerMicrosecond = 1000;
constexpr std::string_view kPattern = "0000-00-00T00:00:00.000000Z";

Stamp stamp_of_file(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  return {.bytes = static_cast<std::uint64_t>(status.st_size),
          .time = std::int64_t{status.st_mtim.tv_sec} * kPerSecond + status.st_mtim.tv_nsec};
}

/// Rows have microseconds.
bool same_time(std::int64_t a, std::int64_t b) {
  return a / kPerMicrosecond == b / kPerMicrosecond;
}

/// A member's bytes are not those of its archive.
Freshness compare(const Stamp& before, const Stamp& now, bool member) {
  if (now.time == 0) return Freshness::kGone;
  const bool same_size = member || now.bytes == before.bytes;
  return same_size && same_time(now.time, before.time) ? Freshness::kSame : Freshness::kChanged;
}

}  // namespace

Stamp stamp_of(const Input& input) {
  Stamp stamp = stamp_of_file(input.file);
  if (input.archive && stamp.time != 0) stamp.bytes = input.member.size;
  return stamp;
}

Freshness freshness_of(const std::string& path, const Stamp& before) {
  if (before.time == 0) return Freshness::kSame;
  return compare(before, stamp_of_file(file_of(path)), split_member_name(path).has_value());
}

Freshness freshness_of(const Input& input, const Stamp& before) {
  if (before.time == 0) return Freshness::kSame;
  return compare(before, stamp_of_file(input.file),
                 input.archive != nullptr || split_member_name(input.path));
}

std::string time_text(std::int64_t nanoseconds) {
  using namespace std::chrono;
  const auto time = floor<microseconds>(
      sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(nanoseconds)));
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()),
                static_cast<int>(clock.subseconds().count()));
  return text.data();
}

std::optional<std::int64_t> parse_time(std::string_view text) {
  if (text.size() != kPattern.size()) return std::nullopt;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kPattern[i] == '0' ? !digit : text[i] != kPattern[i]) return std::nullopt;
  }
  const auto number = [&](size_t at, size_t length) {
    int value = 0;
    std::from_chars(text.data() + at, text.data() + at + length, value);
    return value;
  };
  using namespace std::chrono;
  const sys_days day = year(number(0, 4)) / month(static_cast<unsigned>(number(5, 2))) /
                       std::chrono::day(static_cast<unsigned>(number(8, 2)));
  const auto time = day + hours(number(11, 2)) + minutes(number(14, 2)) + seconds(number(17, 2)) +
                    microseconds(number(20, 6));
  return duration_cast<nanoseconds>(time.time_since_epoch()).count();
}

}  // namespace vit::tools
