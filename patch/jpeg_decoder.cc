#include <csetjmp>
#include <cstdio>

#include "patch/pixel_decoders.h"

// Needs the names of <cstdio> before it.
#include <jpeglib.h>

namespace vit::patch {
namespace {

struct ErrorState {
  jpeg_error_mgr manager;  // first, so that libjpeg's pointer to it is one to the whole
  std::jmp_buf escape;
};

[[noreturn]] void give_up(j_common_ptr decoder) {
  std::longjmp(reinterpret_cast<ErrorState*>(decoder->err)->escape, 1);
}

void say_nothing(j_common_ptr, int) {}

/// Full ink is 0, as Adobe stores it. The products are shifted, not divided by 255.
void rgb_of_cmyk(const JSAMPLE* cmyk, size_t width, std::uint8_t* rgb) {
  for (size_t x = 0; x < width; ++x, cmyk += 4, rgb += 3)
    for (size_t c = 0; c < 3; ++c)
      rgb[c] = static_cast<std::uint8_t>(cmyk[3] - ((255 - cmyk[c]) * cmyk[3] >> 8));
}

// libjpeg leaves by longjmp, which runs no destructors: nothing here may need one.
bool read_rows(jpeg_decompress_struct& decoder, std::span<const std::byte> bytes, Image& image) {
  jpeg_mem_src(&decoder, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&decoder, TRUE);
  if (decoder.image_width != image.width || decoder.image_height != image.height) return false;
  const bool cmyk = decoder.num_components == 4;
  decoder.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(&decoder);
  JSAMPARRAY inks = nullptr;
  if (cmyk)
    inks = decoder.mem->alloc_sarray(reinterpret_cast<j_common_ptr>(&decoder), JPOOL_IMAGE,
                                     decoder.output_width * 4, 1);
  while (decoder.output_scanline < decoder.output_height) {
    std::uint8_t* row = image.row(decoder.output_scanline);
    JSAMPROW target = cmyk ? inks[0] : row;
    if (jpeg_read_scanlines(&decoder, &target, 1) != 1) return false;
    if (cmyk) rgb_of_cmyk(target, image.width, row);
  }
  return true;
}

}  // namespace

bool decode_jpeg(std::span<const std::byte> bytes, Image& image) {
  jpeg_decompress_struct decoder;
  ErrorState errors;
  decoder.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = give_up;
  errors.manager.emit_message = say_nothing;
  if (setjmp(errors.escape) != 0) {
    jpeg_destroy_decompress(&decoder);
    return false;
  }
  jpeg_create_decompress(&decoder);
  const bool whole = read_rows(decoder, bytes, image);
  jpeg_destroy_decompress(&decoder);
  return whole;
}

}  // namespace vit::patch
