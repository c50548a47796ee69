// The module behind Video: FFmpeg's libraries. Nothing of the library is linked into it but
// headers.
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
}

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <new>

#include "patch/video/frame_reader.h"
#include "patch/video/module.h"

namespace vit::patch {
namespace {

/// Pictures that were passed on the way to the one that was asked for: several threads ask, and
/// not quite in order.
constexpr size_t kMostPassed = 8;
constexpr size_t kMostPassedPixels = size_t{64} << 20;

}  // namespace

struct VideoState {
  explicit VideoState(const VideoOpening& opening)
      : reader(opening.source, opening.stop), step(opening.step) {}

  struct Passed {
    long number;  ///< of the step
    Image image;
  };

  FrameReader reader;
  double step;
  std::vector<Passed> passed{};

  long number_of(double seconds) const { return step > 0 ? std::lround(seconds / step) : 0; }

  /// Keeps the pictures at the steps before `number` that were not requested yet.
  void pass(long number) {
    const size_t pixels = reader.width() * reader.height();
    const size_t most = std::min(kMostPassed, kMostPassedPixels / std::max<size_t>(pixels, 1));
    const long place = static_cast<long>(std::floor(reader.place() / step)) + 1;
    for (long n = std::max(place, number - static_cast<long>(most)); n < number; ++n) {
      if (passed.size() >= most) passed.erase(passed.begin());
      passed.push_back({n, reader.picture(static_cast<double>(n) * step)});
    }
  }

  Image picture(double seconds) {
    const long number = number_of(seconds);
    const bool stepped = step > 0 && std::abs(static_cast<double>(number) * step - seconds) < 1e-6;
    if (!stepped) return reader.picture(seconds);
    const auto kept =
        std::ranges::find_if(passed, [&](const Passed& p) { return p.number == number; });
    if (kept != passed.end()) {
      Image image = std::move(kept->image);
      passed.erase(kept);
      return image;
    }
    if (reader.is_near(seconds)) pass(number);
    return reader.picture(seconds);
  }
};

namespace {

template <typename Action>
std::string without_exceptions(const Action& action) {
  try {
    action();
    return "";
  } catch (const VideoStop&) {
    return kVideoStopped;
  } catch (const std::bad_alloc&) {
    return kVideoOutOfMemory;
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string open_video(const VideoOpening& opening, VideoState*& state, double& seconds) {
  return without_exceptions([&] {
    auto opened = std::make_unique<VideoState>(opening);
    seconds = opened->reader.seconds();
    state = opened.release();
  });
}

std::string size_of_video(VideoState& state, size_t& width, size_t& height) {
  width = state.reader.width();
  height = state.reader.height();
  return "";
}

std::string video_frame(VideoState& state, double seconds, const std::atomic<bool>& stop,
                        VideoPicture& picture) {
  return without_exceptions([&] {
    state.reader.obey(stop);
    picture.image = state.picture(seconds);
    picture.orientation = state.reader.orientation();
  });
}

void close_video(VideoState* state) {
  delete state;
}

}  // namespace
}  // namespace vit::patch

extern "C" {
__attribute__((visibility("default"))) extern const vit::patch::VideoModule vit_video;
const vit::patch::VideoModule vit_video{vit::patch::open_video, vit::patch::size_of_video,
                                        vit::patch::video_frame, vit::patch::close_video};
}
