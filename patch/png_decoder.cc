#include <png.h>

#include <csetjmp>
#include <cstring>

#include "patch/pixel_decoders.h"

namespace vit::patch {
namespace {

using Source = std::span<const std::byte>;

[[noreturn]] void give_up(png_structp decoder, png_const_charp) {
  png_longjmp(decoder, 1);
}

void say_nothing(png_structp, png_const_charp) {}

void read_bytes(png_structp decoder, png_bytep to, size_t count) {
  auto& source = *static_cast<Source*>(png_get_io_ptr(decoder));
  if (count > source.size()) png_error(decoder, "the file ends");
  std::memcpy(to, source.data(), count);
  source = source.subspan(count);
}

// libpng leaves by longjmp, which runs no destructors: nothing here may need one.
bool read_rows(png_structp decoder, png_infop info, Image& image) {
  png_read_info(decoder, info);
  if (png_get_image_width(decoder, info) != image.width ||
      png_get_image_height(decoder, info) != image.height)
    return false;
  const int colour = png_get_color_type(decoder, info);
  png_set_strip_16(decoder);
  png_set_strip_alpha(decoder);
  if (colour == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(decoder);
  if ((colour & PNG_COLOR_MASK_COLOR) == 0) {
    png_set_expand_gray_1_2_4_to_8(decoder);
    png_set_gray_to_rgb(decoder);
  }
  const int passes = png_set_interlace_handling(decoder);
  png_read_update_info(decoder, info);
  if (png_get_rowbytes(decoder, info) != image.width * 3) return false;
  for (int pass = 0; pass < passes; ++pass)
    for (size_t y = 0; y < image.height; ++y) png_read_row(decoder, image.row(y), nullptr);
  png_read_end(decoder, nullptr);
  return true;
}

}  // namespace

bool decode_png(std::span<const std::byte> bytes, Image& image) {
  Source source = bytes;
  png_structp decoder =
      png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, give_up, say_nothing);
  png_infop info = decoder == nullptr ? nullptr : png_create_info_struct(decoder);
  if (info == nullptr) {
    png_destroy_read_struct(&decoder, nullptr, nullptr);
    return false;
  }
  if (setjmp(png_jmpbuf(decoder)) != 0) {
    png_destroy_read_struct(&decoder, &info, nullptr);
    return false;
  }
  png_set_read_fn(decoder, &source, read_bytes);
  const bool whole = read_rows(decoder, info, image);
  png_destroy_read_struct(&decoder, &info, nullptr);
  return whole;
}

}  // namespace vit::patch
