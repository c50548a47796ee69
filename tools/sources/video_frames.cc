#include "tools/sources/video_frames.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "tools/sources/readable_file.h"
#include "vit/base/error.h"
#include "vit/base/text.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFrameMark = "#t=";
constexpr double kLongest = 1e9;  // ms, eleven days

}  // namespace

std::optional<FrameName> split_frame_name(const std::string& path) {
  const size_t mark = path.rfind(kFrameMark);
  std::error_code ignored;
  if (mark == path.npos || fs::exists(path, ignored)) return std::nullopt;
  const std::string video = path.substr(0, mark);
  const auto seconds = to_number<double>(std::string_view(path).substr(mark + kFrameMark.size()));
  if (!seconds || !(*seconds >= 0) || *seconds * 1000 > kLongest) return std::nullopt;
  if (!patch::looks_like_video(video) || !fs::is_regular_file(video, ignored)) return std::nullopt;
  return FrameName{video, std::llround(*seconds * 1000)};
}

std::string frame_name(const std::string& video, std::int64_t milliseconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%lld.%03lld",
                static_cast<long long>(milliseconds / 1000),
                static_cast<long long>(milliseconds % 1000));
  std::string seconds = text.data();
  while (seconds.ends_with('0') && !seconds.ends_with(".0")) seconds.pop_back();
  return video + std::string(kFrameMark) + seconds;
}

std::shared_ptr<patch::Video> open_video(const std::string& path, std::int64_t step,
                                         const std::atomic<bool>& stop) {
  const auto file = std::make_shared<const ReadableFile>(path);
  patch::VideoSource source{.name = path, .size = file->size(), .read = {}};
  source.read = [file](std::uint64_t offset, std::span<std::byte> bytes) {
    return file->read(offset, bytes);
  };
  return std::make_shared<patch::Video>(std::move(source), static_cast<double>(step) / 1000, stop);
}

std::int64_t count_frames(const patch::Video& video, const std::string& path, std::int64_t step) {
  const double milliseconds = video.seconds() * 1000;
  // A long still picture takes only a few bytes.
  std::error_code ignored;
  constexpr double kAlways = 3600, kLeastBytes = 16;
  const auto bytes = static_cast<double>(fs::file_size(path, ignored));
  if (milliseconds > kLongest ||
      milliseconds / static_cast<double>(step) > kAlways + bytes / kLeastBytes)
    fail_at(path, "claims to be ", milliseconds / 1000, " s long, but has only ", bytes,
            " bytes: it is damaged or malicious");
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::ceil(milliseconds / static_cast<double>(step) - 1e-6)));
}

std::optional<std::int64_t> parse_duration(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, double>, 4> kUnits{
      {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}}};
  for (const auto& [unit, milliseconds] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const auto number =
        to_number<double>(std::string_view(text).substr(0, text.size() - unit.size()));
    if (!number || !(*number > 0)) continue;
    const double value = *number * milliseconds;
    if (value < 1 || value > kLongest) return std::nullopt;
    return std::llround(value);
  }
  return std::nullopt;
}

}  // namespace vit::tools
