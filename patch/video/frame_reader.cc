#include "patch/video/frame_reader.h"

extern "C" {
#include <libavutil/display.h>
}

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <new>
#include <thread>
#include <vector>

namespace vit::patch {
namespace {

constexpr double kFar = 10;            // seconds over which it is worth looking for a key frame
constexpr double kLongestPicture = 1;  // seconds that the last picture of a video may be shown
constexpr int kBuffer = 1 << 16;
constexpr int kMostThreads = 4;
constexpr std::int64_t kMostPixels = std::int64_t{1} << 27;  // four times 8K

/// Formats that hold pictures and sound, and never the names of other files.
constexpr const char* kFormats = "mov,mp4,3gp,matroska,webm,avi,mpeg,mpegts,mpegvideo,asf,flv,ogg";

[[noreturn]] void refuse(const std::string& text, int error = 0) {
  if (error == AVERROR(ENOMEM)) throw std::bad_alloc();
  if (error == 0) throw std::runtime_error(text);
  char reason[AV_ERROR_MAX_STRING_SIZE] = "";
  av_strerror(error, reason, sizeof reason);
  throw std::runtime_error(text + ": " + reason);
}

template <typename T>
T* allocated(T* made) {
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

/// EXIF's number for how the pictures lie.
int orientation_of(const AVStream* stream) {
  size_t size = 0;
  const std::uint8_t* matrix = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
  if (matrix == nullptr || size < 9 * sizeof(std::int32_t)) return 1;
  const double turn = -av_display_rotation_get(reinterpret_cast<const std::int32_t*>(matrix));
  if (!std::isfinite(turn)) return 1;
  switch ((std::lround(turn / 90) % 4 + 4) % 4) {
    case 1:
      return 6;
    case 2:
      return 3;
    case 3:
      return 8;
    default:
      return 1;
  }
}

}  // namespace

FrameReader::FrameReader(const VideoSource& source, const std::atomic<bool>& stop)
    : source_(source), stop_(&stop) {
  av_log_set_level(AV_LOG_QUIET);
  packet_.reset(allocated(av_packet_alloc()));
  current_.reset(allocated(av_frame_alloc()));
  ahead_.reset(allocated(av_frame_alloc()));
  open_format();
  open_codec();
  measure();
}

int FrameReader::read_bytes(void* self, std::uint8_t* to, int count) {
  auto& reader = *static_cast<FrameReader*>(self);
  if (*reader.stop_) return AVERROR_EXIT;
  try {
    const std::span<std::uint8_t> bytes(to, static_cast<size_t>(std::max(count, 0)));
    const size_t got =
        reader.source_.read(static_cast<std::uint64_t>(reader.at_), std::as_writable_bytes(bytes));
    reader.at_ += static_cast<std::int64_t>(got);
    return got == 0 ? AVERROR_EOF : static_cast<int>(got);
  } catch (const std::exception&) {
    return AVERROR(EIO);
  }
}

std::int64_t FrameReader::seek_bytes(void* self, std::int64_t offset, int whence) {
  auto& reader = *static_cast<FrameReader*>(self);
  const auto size = static_cast<std::int64_t>(reader.source_.size);
  if ((whence & AVSEEK_SIZE) != 0) return size;
  if (whence == SEEK_CUR) offset += reader.at_;
  if (whence == SEEK_END) offset += size;
  if (offset < 0) return AVERROR(EINVAL);
  return reader.at_ = offset;
}

int FrameReader::is_stopped(void* self) {
  return *static_cast<FrameReader*>(self)->stop_ ? 1 : 0;
}

void FrameReader::check_stop() const {
  if (*stop_) throw VideoStop();
}

void FrameReader::open_format() {
  auto* buffer = static_cast<std::uint8_t*>(allocated(av_malloc(kBuffer)));
  bytes_.reset(
      allocated(avio_alloc_context(buffer, kBuffer, 0, this, read_bytes, nullptr, seek_bytes)));
  AVFormatContext* format = allocated(avformat_alloc_context());
  format->pb = bytes_.get();
  format->flags |= AVFMT_FLAG_CUSTOM_IO;
  format->interrupt_callback = {is_stopped, this};
  format->format_whitelist = av_strdup(kFormats);
  format->protocol_whitelist = av_strdup("none");
  const int opened = avformat_open_input(&format, "", nullptr, nullptr);  // frees it if it fails
  check_stop();
  if (opened < 0) refuse("cannot read this video", opened);
  format_.reset(format);
  // It decodes, too.
  std::vector<AVDictionary*> options(format->nb_streams);
  for (auto& option : options) av_dict_set_int(&option, "max_pixels", kMostPixels, 0);
  const int known = avformat_find_stream_info(format, options.data());
  for (auto& option : options) av_dict_free(&option);
  check_stop();
  if (known < 0) refuse("cannot read this video", known);
}

void FrameReader::open_codec() {
  const AVCodec* decoder = nullptr;
  const int best = av_find_best_stream(format_.get(), AVMEDIA_TYPE_VIDEO, -1, -1, &decoder, 0);
  if (best == AVERROR_DECODER_NOT_FOUND)
    refuse("this FFmpeg has no decoder for it; convert it: ffmpeg -i FILE out.mp4");
  if (best < 0) refuse("it holds no pictures, or is cut short");
  stream_ = format_->streams[best];
  if ((stream_->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0)
    refuse("it holds no pictures, or is cut short");
  for (unsigned i = 0; i < format_->nb_streams; ++i)
    if (format_->streams[i] != stream_) format_->streams[i]->discard = AVDISCARD_ALL;
  codec_.reset(allocated(avcodec_alloc_context3(decoder)));
  int status = avcodec_parameters_to_context(codec_.get(), stream_->codecpar);
  if (status < 0) refuse("cannot read this video", status);
  codec_->pkt_timebase = stream_->time_base;
  codec_->max_pixels = kMostPixels;
  codec_->thread_count =
      std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMostThreads);
  status = avcodec_open2(codec_.get(), decoder, nullptr);
  if (status < 0) refuse("cannot decode this video", status);
  if (codec_->width <= 0 || codec_->height <= 0) refuse("it has pictures of no size");
  width_ = static_cast<size_t>(codec_->width);
  height_ = static_cast<size_t>(codec_->height);
  orientation_ = orientation_of(stream_);
}

double FrameReader::time_of(std::int64_t stamp) const {
  return static_cast<double>(stamp) * av_q2d(stream_->time_base) - start_;
}

/// The end of the last picture among the packets from here on; negative if there are none.
double FrameReader::end_of_packets() {
  const AVRational rate = stream_->avg_frame_rate;
  const double usual = rate.num > 0 && rate.den > 0 ? av_q2d(av_inv_q(rate)) : 0;
  double end = -1;
  while (av_read_frame(format_.get(), packet_.get()) >= 0) {
    check_stop();
    const std::int64_t stamp = packet_->pts != AV_NOPTS_VALUE ? packet_->pts : packet_->dts;
    const double length = static_cast<double>(packet_->duration) * av_q2d(stream_->time_base);
    if (packet_->stream_index == stream_->index && stamp != AV_NOPTS_VALUE)
      end = std::max(end, time_of(stamp) + (length > 0 ? length : usual));
    av_packet_unref(packet_.get());
  }
  check_stop();
  return end;
}

/// What a header says about the length is often wrong, and of some formats there is none.
void FrameReader::measure() {
  if (stream_->start_time != AV_NOPTS_VALUE)
    start_ = static_cast<double>(stream_->start_time) * av_q2d(stream_->time_base);
  const double unit = av_q2d(stream_->time_base);
  double said =
      stream_->duration != AV_NOPTS_VALUE ? static_cast<double>(stream_->duration) * unit : -1;
  if (said < 0 && format_->duration != AV_NOPTS_VALUE)
    said = static_cast<double>(format_->duration) / AV_TIME_BASE;
  if (said > 0 && std::isfinite(said)) {
    go_to(said);
    end_ = end_of_packets();
  }
  if (end_ <= 0) {
    go_to(0);
    end_ = end_of_packets();
  }
  if (end_ < 0) refuse("it holds no pictures, or is cut short");
  go_to(0);
}

void FrameReader::go_to(double seconds) {
  const double stamp = std::clamp((seconds + start_) / av_q2d(stream_->time_base), -9e18, 9e18);
  const auto wanted = static_cast<std::int64_t>(stamp);
  if (av_seek_frame(format_.get(), stream_->index, wanted, AVSEEK_FLAG_BACKWARD) < 0) {
    // Not every format has an index: the start can be found always.
    if (av_seek_frame(format_.get(), stream_->index, 0, AVSEEK_FLAG_BYTE) < 0)
      av_seek_frame(format_.get(), -1, 0, AVSEEK_FLAG_BACKWARD);
  }
  check_stop();
  avcodec_flush_buffers(codec_.get());
  av_frame_unref(current_.get());
  av_frame_unref(ahead_.get());
  shown_ = next_ = -1;
  drained_ = damaged_ = false;
}

bool FrameReader::is_near(double seconds) const {
  return shown_ >= 0 && seconds >= shown_ && seconds < shown_ + kFar;
}

/// Decodes the next picture into `ahead_`. False: there are no more.
bool FrameReader::next_frame() {
  while (true) {
    check_stop();
    const int received = avcodec_receive_frame(codec_.get(), ahead_.get());
    if (received >= 0) return true;
    if (received == AVERROR_EOF) return false;
    if (received != AVERROR(EAGAIN)) damaged_ = true;
    if (drained_ && received != AVERROR(EAGAIN)) return false;
    const int read = drained_ ? AVERROR_EOF : av_read_frame(format_.get(), packet_.get());
    check_stop();
    if (read < 0) {
      if (drained_) return false;
      drained_ = true;
      avcodec_send_packet(codec_.get(), nullptr);
      continue;
    }
    if (packet_->stream_index == stream_->index &&
        avcodec_send_packet(codec_.get(), packet_.get()) == AVERROR_INVALIDDATA)
      damaged_ = true;
    av_packet_unref(packet_.get());
  }
}

void FrameReader::take_frame() {
  std::swap(current_, ahead_);
  av_frame_unref(ahead_.get());
  shown_ = std::max(next_, 0.0);
  next_ = -1;
  last_length_ = static_cast<double>(current_->pkt_duration) * av_q2d(stream_->time_base);
}

/// Until the picture of a time is `current_` and the one behind it `ahead_`.
void FrameReader::decode_until(double seconds) {
  constexpr double kRounding = 1e-4;  // a time base is no multiple of a millisecond
  while (true) {
    if (next_ < 0) {
      if (!next_frame()) return;
      const std::int64_t stamp = ahead_->best_effort_timestamp;
      next_ = stamp != AV_NOPTS_VALUE ? std::max(time_of(stamp), 0.0) : shown_ + 1e-3;
    }
    if (shown_ >= 0 && next_ > seconds + kRounding) return;
    take_frame();
    if (shown_ > seconds + kRounding) return;  // the first one is shown from the start
  }
}

Image FrameReader::converted() const {
  const AVFrame& frame = *current_;
  const auto format = static_cast<AVPixelFormat>(frame.format);
  scaler_.reset(sws_getCachedContext(scaler_.release(), frame.width, frame.height, format,
                                     frame.width, frame.height, AV_PIX_FMT_RGB24,
                                     SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT, nullptr,
                                     nullptr, nullptr));
  if (!scaler_) refuse("its pictures are of a kind that FFmpeg does not convert");
  const int full = frame.color_range == AVCOL_RANGE_JPEG ? 1 : 0;
  sws_setColorspaceDetails(scaler_.get(), sws_getCoefficients(frame.colorspace), full,
                           sws_getCoefficients(SWS_CS_DEFAULT), 1, 0, 1 << 16, 1 << 16);
  Image image{static_cast<size_t>(frame.width), static_cast<size_t>(frame.height), {}};
  image.pixels.resize(image.width * image.height * 3);
  std::uint8_t* rows[4] = {image.pixels.data()};
  const int strides[4] = {3 * frame.width};
  if (sws_scale(scaler_.get(), frame.data, frame.linesize, 0, frame.height, rows, strides) !=
      frame.height)
    refuse("its pictures are of a kind that FFmpeg does not convert");
  if (damaged_ || frame.decode_error_flags != 0 || (frame.flags & AV_FRAME_FLAG_CORRUPT) != 0)
    image.damage = "the video is damaged here";
  return image;
}

Image FrameReader::picture(double seconds) {
  if (seconds >= end_ + kLongestPicture) {
    char text[64];
    std::snprintf(text, sizeof text, "the video ends after %.1f s", end_);
    refuse(text);
  }
  if (!is_near(seconds)) go_to(seconds);
  decode_until(seconds);
  if (shown_ > seconds + 1e-4 && seconds > 0) {  // the format's index is not exact
    go_to(0);
    decode_until(seconds);
  }
  if (shown_ < 0) refuse("no picture of this video can be decoded");
  if (next_ < 0 && seconds >= shown_ + std::max(last_length_, kLongestPicture))
    refuse("it is damaged: no later picture can be decoded");
  if (static_cast<size_t>(current_->width) != width_ ||
      static_cast<size_t>(current_->height) != height_)
    refuse("its pictures change their size");
  Image image = converted();
  damaged_ = false;
  return image;
}

}  // namespace vit::patch
