#include "patch/video/video.h"

#include <algorithm>
#include <array>
#include <new>

#include "patch/image/load_module.h"
#include "patch/image/orientation.h"
#include "patch/image/pixel_budget.h"
#include "patch/video/module.h"
#include "vit/base/error.h"
#include "vit/base/text.h"

namespace vit::patch {
namespace {

const VideoModule& module() {
  static const auto* const loaded = static_cast<const VideoModule*>(
      load_module("the video codecs", VIT_VIDEO_MODULE, kVideoSymbol));
  return *loaded;
}

void check(const std::string& problem) {
  if (problem == kVideoStopped) throw WaitStopped();
  if (problem == kVideoOutOfMemory) throw std::bad_alloc();
  if (!problem.empty()) fail(problem);
}

}  // namespace

bool looks_like_video(std::string_view name) {
  constexpr std::array<std::string_view, 15> kEndings{".mp4",  ".m4v", ".mov",  ".mkv", ".webm",
                                                      ".avi",  ".mpg", ".mpeg", ".ts",  ".mts",
                                                      ".m2ts", ".wmv", ".flv",  ".3gp", ".ogv"};
  return std::ranges::find(kEndings, ending_of(name)) != kEndings.end();
}

Video::Video(VideoSource source, double step, const std::atomic<bool>& stop)
    : source_(std::move(source)) {
  const VideoOpening opening{.source = source_, .step = step, .stop = stop};
  try {
    check(module().open(opening, state_, seconds_));
  } catch (const WaitStopped&) {
    throw;
  } catch (const std::bad_alloc&) {
    // FFmpeg also reports this for tables that the file only claims to have, so it fails this input
    // and not the whole run.
    fail_at(source_.name,
            "cannot read this video: it needs more memory than is available; it is damaged or "
            "malicious");
  } catch (const Error& error) {
    fail_at(source_.name, error.what());
  }
}

Video::~Video() {
  module().close(state_);
}

Image Video::frame(double seconds, const DecodeOptions& options) {
  static const std::atomic<bool> kNever{false};
  const auto& stop = options.stop != nullptr ? *options.stop : kNever;
  VideoPicture picture;
  size_t width = 0, height = 0;
  check(module().size(*state_, width, height));
  if (width * height > options.max_pixels)
    fail("the video is too large: ", width, "x", height, " are ", width * height,
         " pixels, the limit is ", options.max_pixels, "; raise max_pixels or make it smaller");
  std::shared_ptr<const void> lease;
  if (options.budget != nullptr) lease = options.budget->take(width * height, options.stop);
  {
    const std::lock_guard lock(mutex_);
    check(module().frame(*state_, seconds, stop, picture));
  }
  picture.image.lease = std::move(lease);
  if (picture.orientation == 1 || options.exif == Exif::kIgnore) return std::move(picture.image);
  return oriented(picture.image, picture.orientation);
}

}  // namespace vit::patch
