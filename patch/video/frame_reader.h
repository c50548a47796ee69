/// One video, opened by FFmpeg's libraries. Part of the module.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswscale/swscale.h>
}

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "patch/video/video.h"

namespace vit::patch {

/// The caller's stop flag was set.
struct VideoStop : std::exception {};

struct VideoCloser {
  void operator()(AVFormatContext* format) const { avformat_close_input(&format); }
  void operator()(AVCodecContext* codec) const { avcodec_free_context(&codec); }
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
  void operator()(SwsContext* scaler) const { sws_freeContext(scaler); }
  void operator()(AVIOContext* bytes) const {
    av_freep(&bytes->buffer);
    avio_context_free(&bytes);
  }
};
template <typename T>
using VideoOwned = std::unique_ptr<T, VideoCloser>;

/// Throws std::runtime_error, std::bad_alloc and VideoStop.
class FrameReader {
 public:
  FrameReader(const VideoSource& source, const std::atomic<bool>& stop);

  /// Of all pictures, before they are turned.
  size_t width() const { return width_; }
  size_t height() const { return height_; }
  double seconds() const { return end_; }
  int orientation() const { return orientation_; }

  /// The flag of the present call.
  void obey(const std::atomic<bool>& stop) { stop_ = &stop; }

  /// Where the picture that was decoded last begins; negative before the first one.
  double place() const { return shown_; }
  /// Whether the way to a time leads forward, over few pictures.
  bool is_near(double seconds) const;
  /// The picture that is shown at a time.
  Image picture(double seconds);

 private:
  static int read_bytes(void* self, std::uint8_t* to, int count);
  static std::int64_t seek_bytes(void* self, std::int64_t offset, int whence);
  static int is_stopped(void* self);

  void open_format();
  void open_codec();
  void measure();
  double end_of_packets();

  void check_stop() const;
  void go_to(double seconds);
  void decode_until(double seconds);
  bool next_frame();
  void take_frame();
  Image converted() const;
  double time_of(std::int64_t stamp) const;

  const VideoSource& source_;
  const std::atomic<bool>* stop_;
  std::int64_t at_ = 0;  ///< in the bytes
  VideoOwned<AVIOContext> bytes_;
  VideoOwned<AVFormatContext> format_;
  VideoOwned<AVCodecContext> codec_;
  VideoOwned<AVPacket> packet_;
  VideoOwned<AVFrame> current_,
      ahead_;  ///< the last at or before the time, and the first behind it
  mutable VideoOwned<SwsContext> scaler_;
  AVStream* stream_ = nullptr;
  size_t width_ = 0, height_ = 0;
  double start_ = 0, end_ = 0;
  double shown_ = -1, next_ = -1;  ///< times of `current_` and `ahead_`; negative: none
  double last_length_ = 0;         ///< of `current_`
  int orientation_ = 1;
  bool drained_ = false;  ///< nothing more comes from the file
  bool damaged_ = false;  ///< something before `current_` could not be decoded
};

}  // namespace vit::patch
