#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "patch/image/pixel_decoders.h"

// Needs the names of <cstdio> before it.
#include <jerror.h>
#include <jpeglib.h>

namespace vit::patch {
namespace {

constexpr int kMaxScans =
    100;  // jpeg_header.cc has counted them; this holds for damaged files, too

struct ErrorState {
  jpeg_error_mgr manager;  // first, so that libjpeg's pointer to it is one to the whole
  std::jmp_buf escape;
  std::array<char, JMSG_LENGTH_MAX> message;
  std::array<char, JMSG_LENGTH_MAX> damage;  ///< of the first warning that counts; empty: none did
};

ErrorState& state_of(j_common_ptr decoder) {
  return *reinterpret_cast<ErrorState*>(decoder->err);
}

[[noreturn]] void give_up(j_common_ptr decoder) {
  ErrorState& state = state_of(decoder);
  state.manager.format_message(decoder, state.message.data());
  std::longjmp(state.escape, 1);
}

/// `format` takes the number or leaves it out.
void note(ErrorState& state, const char* format, unsigned number = 0) {
  std::snprintf(state.damage.data(), state.damage.size(), format, number);
}

/// Whether nothing after the marker can be decoded: there are no restart markers to continue from,
/// or it starts another part of the file.
bool is_rest_lost(const jpeg_decompress_struct& decoder) {
  const int marker = decoder.unread_marker;
  const bool restart = marker >= JPEG_RST0 && marker <= JPEG_RST0 + 7;
  constexpr int kFirstWithMeaning = 0xc0;
  return decoder.restart_interval == 0 || (marker >= kFirstWithMeaning && !restart);
}

/// An image of which most is made up is none.
void refuse_if_mostly_missing(const jpeg_decompress_struct& decoder, ErrorState& state) {
  const unsigned rows = decoder.input_iMCU_row, all = decoder.total_iMCU_rows;
  if (decoder.input_scan_number != 1 || 2 * rows >= all || !is_rest_lost(decoder)) return;
  std::snprintf(state.message.data(), state.message.size(), "its data ends after %u %% of the rows",
                100 * rows / all);
  std::longjmp(state.escape, 1);
}

/// The data ends, or a marker stands in it, before all blocks are decoded. libjpeg makes the rest
/// grey, up to the next restart marker if there are any.
void note_missing_data(jpeg_decompress_struct& decoder, ErrorState& state) {
  const bool at_end = decoder.unread_marker == JPEG_EOI;
  if (jpeg_has_multiple_scans(&decoder))
    return note(state, "the data of scan %u ends early",
                static_cast<unsigned>(decoder.input_scan_number));
  const unsigned percent = 100 * decoder.input_iMCU_row / decoder.total_iMCU_rows;
  if (decoder.restart_interval != 0 && !at_end)
    return note(state, "data is missing after %u %% of the rows", percent);
  note(state,
       at_end ? "the data ends after %u %% of the rows, the rest is grey"
              : "a stray marker ends the data after %u %% of the rows, the rest is grey",
       percent);
}

/// Some cameras write a few bytes more than the image takes.
void note_stray_bytes(const jpeg_decompress_struct& decoder, ErrorState& state) {
  constexpr int kHarmless = 16;
  const int count = state.manager.msg_parm.i[0];
  if (decoder.input_scan_number == 0) return;  // between the headers
  if (count > kHarmless)
    note(state, "%u bytes of the data belong to no part of the image",
         static_cast<unsigned>(count));
}

// Not noted: unknown versions and colour transforms, odd scan parameters; decoders agree on those.
void hear_warning(j_common_ptr common, int level) {
  ErrorState& state = state_of(common);
  if (level >= 0) return;
  auto& decoder = *reinterpret_cast<j_decompress_ptr>(common);
  const int code = state.manager.msg_code;
  if (code == JWRN_HIT_MARKER || code == JWRN_MUST_RESYNC) refuse_if_mostly_missing(decoder, state);
  if (state.damage[0] != '\0') return;
  switch (code) {
    case JWRN_HIT_MARKER:
      return note_missing_data(decoder, state);
    case JWRN_EXTRANEOUS_DATA:
      return note_stray_bytes(decoder, state);
    case JWRN_HUFF_BAD_CODE:
      return note(state, "the data has codes that do not exist");
    case JWRN_MUST_RESYNC:
      return note(state, "restart markers are missing or in the wrong order");
    case JWRN_JPEG_EOF:
      return note(state, "the data ends early");
    case JWRN_BOGUS_PROGRESSION:
      return note(state, "its scans do not follow from each other");
    default:
      // Its number depends on how libjpeg was built.
      if (std::strstr(state.manager.jpeg_message_table[code], "bad arithmetic"))
        note(state, "the data has codes that do not exist");
  }
}

void bound_scans(j_common_ptr decoder) {
  if (reinterpret_cast<j_decompress_ptr>(decoder)->input_scan_number > kMaxScans) give_up(decoder);
}

/// Full ink is 0, as Adobe stores it. The products are shifted, not divided by 255.
void rgb_of_cmyk(const JSAMPLE* cmyk, size_t width, std::uint8_t* rgb) {
  for (size_t x = 0; x < width; ++x, cmyk += 4, rgb += 3)
    for (size_t c = 0; c < 3; ++c)
      rgb[c] = static_cast<std::uint8_t>(cmyk[3] - ((255 - cmyk[c]) * cmyk[3] >> 8));
}

// libjpeg leaves by longjmp, which runs no destructors: nothing here may need one.
const char* read_rows(jpeg_decompress_struct& decoder, std::span<const std::byte> bytes,
                      Image& image) {
  jpeg_mem_src(&decoder, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&decoder, TRUE);
  if (decoder.image_width != image.width || decoder.image_height != image.height)
    return "it has headers of two sizes";
  const bool cmyk = decoder.num_components == 4;
  decoder.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(&decoder);
  JSAMPARRAY inks = nullptr;
  if (cmyk)
    inks = decoder.mem->alloc_sarray(reinterpret_cast<j_common_ptr>(&decoder), JPOOL_IMAGE,
                                     decoder.output_width * 4, 1);
  while (decoder.output_scanline < decoder.output_height) {
    std::uint8_t* row = grown_row(decoder.output_scanline, image);
    JSAMPROW target = cmyk ? inks[0] : row;
    if (jpeg_read_scanlines(&decoder, &target, 1) != 1) return "its rows end early";
    if (cmyk) rgb_of_cmyk(target, image.width, row);
  }
  return nullptr;
}

}  // namespace

std::string decode_jpeg(std::span<const std::byte> bytes, Image& image) {
  jpeg_decompress_struct decoder;
  ErrorState errors{};
  jpeg_progress_mgr progress{};
  progress.progress_monitor = bound_scans;
  decoder.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = give_up;
  errors.manager.emit_message = hear_warning;
  volatile bool whole = false;
  const char* volatile problem = nullptr;
  if (setjmp(errors.escape) == 0) {
    jpeg_create_decompress(&decoder);
    decoder.progress = &progress;
    problem = read_rows(decoder, bytes, image);
    whole = problem == nullptr;
    if (whole) jpeg_finish_decompress(&decoder);  // looks at what lies behind the last block
  }
  jpeg_destroy_decompress(&decoder);
  if (!whole) return problem != nullptr ? problem : errors.message.data();
  image.damage = errors.damage[0] != '\0' ? errors.damage.data() : errors.message.data();
  return {};
}

}  // namespace vit::patch
