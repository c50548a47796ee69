#include "tests/tools/sources/video_maker.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
}

#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace vit::tools {
namespace {

void need(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string("cannot write a video: ") + what);
}

struct Writer {
  AVFormatContext* format = nullptr;
  AVCodecContext* codec = nullptr;
  AVStream* stream = nullptr;
  AVFrame* frame = nullptr;
  AVPacket* packet = nullptr;

  ~Writer() {
    av_packet_free(&packet);
    av_frame_free(&frame);
    avcodec_free_context(&codec);
    if (format != nullptr) avio_closep(&format->pb);
    avformat_free_context(format);
  }

  void open(const std::string& path, const TestVideo& video) {
    av_log_set_level(AV_LOG_QUIET);
    need(avformat_alloc_output_context2(&format, nullptr, nullptr, path.c_str()) >= 0, "format");
    const AVCodec* encoder = avcodec_find_encoder_by_name(video.encoder);
    need(encoder != nullptr, "no such encoder");
    codec = avcodec_alloc_context3(encoder);
    codec->width = video.width;
    codec->height = video.height;
    codec->pix_fmt =
        std::strcmp(video.encoder, "mjpeg") == 0 ? AV_PIX_FMT_YUVJ420P : AV_PIX_FMT_YUV420P;
    codec->time_base = {1, video.rate};
    codec->gop_size = video.key_distance;
    codec->bit_rate = 2'000'000;
    codec->thread_count = 1;
    if ((format->oformat->flags & AVFMT_GLOBALHEADER) != 0)
      codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    need(avcodec_open2(codec, encoder, nullptr) >= 0, "encoder");
    stream = avformat_new_stream(format, nullptr);
    stream->time_base = codec->time_base;
    avcodec_parameters_from_context(stream->codecpar, codec);
    if (video.turn != 0) {
      auto* matrix = av_stream_new_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, 9 * 4);
      av_display_rotation_set(reinterpret_cast<std::int32_t*>(matrix), video.turn);
    }
    need(avio_open(&format->pb, path.c_str(), AVIO_FLAG_WRITE) >= 0, "file");
    need(avformat_write_header(format, nullptr) >= 0, "header");
    packet = av_packet_alloc();
    frame = av_frame_alloc();
    frame->format = codec->pix_fmt;
    frame->width = video.width;
    frame->height = video.height;
    need(av_frame_get_buffer(frame, 0) >= 0, "frame");
  }

  void put(const AVFrame* picture) {
    need(avcodec_send_frame(codec, picture) >= 0, "picture");
    while (avcodec_receive_packet(codec, packet) >= 0) {
      packet->duration = 1;
      av_packet_rescale_ts(packet, codec->time_base, stream->time_base);
      packet->stream_index = stream->index;
      need(av_interleaved_write_frame(format, packet) >= 0, "packet");
    }
  }
};

}  // namespace

void write_video(const std::string& path, const TestVideo& video) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  Writer writer;
  writer.open(path, video);
  std::int64_t count = 0;
  for (const int level : video.brightness)
    for (int i = 0; i < video.each; ++i) {
      need(av_frame_make_writable(writer.frame) >= 0, "frame");
      for (int plane = 0; plane < 3; ++plane) {
        const int rows = plane == 0 ? video.height : video.height / 2;
        std::memset(writer.frame->data[plane], plane == 0 ? level : 128,
                    static_cast<std::size_t>(rows * writer.frame->linesize[plane]));
      }
      // The left half is darker, so that a turn shows.
      for (int y = 0; y < video.height; ++y)
        std::memset(writer.frame->data[0] + y * writer.frame->linesize[0], level - 16,
                    static_cast<std::size_t>(video.width / 2));
      writer.frame->pts = count++;
      writer.put(writer.frame);
    }
  writer.put(nullptr);
  need(av_write_trailer(writer.format) >= 0, "end");
}

}  // namespace vit::tools
