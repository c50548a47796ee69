#include <png.h>

#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>

#include "patch/image/pixel_decoders.h"

namespace vit::patch {
namespace {

using Source = std::span<const std::byte>;

/// What libpng says, in the order in which it says it.
struct Remarks {
  std::array<char, 160> error;
  std::array<char, 160> damage;
};

template <size_t size>
void keep(const char* text, std::array<char, size>& kept) {
  if (kept[0] == '\0') std::snprintf(kept.data(), size, "%s", text);
}

[[noreturn]] void give_up(png_structp decoder, png_const_charp message) {
  keep(message, static_cast<Remarks*>(png_get_error_ptr(decoder))->error);
  png_longjmp(decoder, 1);
}

/// Only what is said about the data of the picture counts, and not that there is more of it.
void hear_warning(png_structp decoder, png_const_charp message) {
  const std::string_view text(message);
  if (!text.starts_with("IDAT: ")) return;
  if (text.ends_with("Extra compressed data") || text.ends_with("Too much image data")) return;
  keep(message + 6, static_cast<Remarks*>(png_get_error_ptr(decoder))->damage);
}

void read_bytes(png_structp decoder, png_bytep to, size_t count) {
  auto& source = *static_cast<Source*>(png_get_io_ptr(decoder));
  if (count > source.size()) png_error(decoder, "the file ends");
  std::memcpy(to, source.data(), count);
  source = source.subspan(count);
}

/// Makes colours of the indices that fill the first third of each row. libpng's own conversion
/// gives indices beyond the palette the colour black. False if there are such.
bool look_up(std::span<const png_color> palette, Image& image) {
  for (size_t y = 0; y < image.height; ++y) {
    std::uint8_t* row = image.row(y);
    for (size_t x = image.width; x-- > 0;) {  // backwards: a colour overwrites later indices
      if (row[x] >= palette.size()) return false;
      const png_color colour = palette[row[x]];
      row[3 * x] = colour.red;
      row[3 * x + 1] = colour.green;
      row[3 * x + 2] = colour.blue;
    }
  }
  return true;
}

// libpng leaves by longjmp, which runs no destructors: nothing here may need one.
const char* read_rows(png_structp decoder, png_infop info, Image& image) {
  // Ours are the limits of decode(); libpng's own would be 1,000,000 pixels a side.
  png_set_user_limits(decoder, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_read_info(decoder, info);
  if (png_get_image_width(decoder, info) != image.width ||
      png_get_image_height(decoder, info) != image.height)
    return "it has headers of two sizes";
  const int colour = png_get_color_type(decoder, info);
  const bool indexed = colour == PNG_COLOR_TYPE_PALETTE;
  png_colorp palette = nullptr;
  int colours = 0;
  png_get_PLTE(decoder, info, &palette, &colours);
  png_set_strip_16(decoder);
  png_set_strip_alpha(decoder);
  if (indexed) png_set_packing(decoder);  // a byte for each index
  if ((colour & PNG_COLOR_MASK_COLOR) == 0) {
    png_set_expand_gray_1_2_4_to_8(decoder);
    png_set_gray_to_rgb(decoder);
  }
  const int passes = png_set_interlace_handling(decoder);
  png_read_update_info(decoder, info);
  if (png_get_rowbytes(decoder, info) != image.width * (indexed ? 1 : 3))
    return "its colours are of no known kind";
  for (int pass = 0; pass < passes; ++pass)
    for (size_t y = 0; y < image.height; ++y) png_read_row(decoder, grown_row(y, image), nullptr);
  if (indexed && !look_up({palette, static_cast<size_t>(colours)}, image))
    return "some pixels have colours beyond its palette";
  return nullptr;
}

}  // namespace

std::string decode_png(std::span<const std::byte> bytes, Image& image) {
  Source source = bytes;
  Remarks remarks{};
  png_structp decoder =
      png_create_read_struct(PNG_LIBPNG_VER_STRING, &remarks, give_up, hear_warning);
  png_infop info = decoder == nullptr ? nullptr : png_create_info_struct(decoder);
  if (info == nullptr) {
    png_destroy_read_struct(&decoder, nullptr, nullptr);
    throw std::bad_alloc();
  }
  volatile bool whole = false;
  const char* volatile problem = nullptr;
  if (setjmp(png_jmpbuf(decoder)) == 0) {
    png_set_read_fn(decoder, &source, read_bytes);
    problem = read_rows(decoder, info, image);
    whole = problem == nullptr;
    if (whole) png_read_end(decoder, nullptr);  // checks the sum behind the data
  }
  png_destroy_read_struct(&decoder, &info, nullptr);
  if (!whole) return problem != nullptr ? problem : remarks.error.data();
  image.damage = remarks.damage[0] != '\0' ? remarks.damage.data() : remarks.error.data();
  return {};
}

}  // namespace vit::patch
