/// HEIC and AVIF files, written by libheif.
#pragma once

#include <libheif/heif.h>

#include <cstring>

#include "patch/image/image.h"
#include "tests/patch/image_files.h"

/// Read by the leak sanitizer: x265, which writes the files of these tests, never frees its tables.
extern "C" [[gnu::used]] inline const char* __lsan_default_suppressions() {
  return "leak:libx265";
}

namespace vit::patch::test {

inline heif_error take_bytes(heif_context*, const void* data, size_t size, void* user) {
  auto& bytes = *static_cast<Bytes*>(user);
  const auto* start = static_cast<const std::uint8_t*>(data);
  bytes.insert(bytes.end(), start, start + size);
  return {heif_error_Ok, heif_suberror_Unspecified, ""};
}

inline heif_image* to_heif(const Image& image) {
  heif_image* pixels = nullptr;
  const int width = static_cast<int>(image.width), height = static_cast<int>(image.height);
  heif_image_create(width, height, heif_colorspace_RGB, heif_chroma_interleaved_RGB, &pixels);
  heif_image_add_plane(pixels, heif_channel_interleaved, width, height, 8);
  int stride = 0;
  std::uint8_t* rows = heif_image_get_plane(pixels, heif_channel_interleaved, &stride);
  for (size_t y = 0; y < image.height; ++y)
    std::memcpy(rows + y * static_cast<size_t>(stride), image.row(y), 3 * image.width);
  return pixels;
}

/// Empty if this libheif has no encoder for the format.
inline Bytes encoded_heif(const Image& image, heif_compression_format format, int orientation = 1) {
  Bytes bytes;
  heif_context* context = heif_context_alloc();
  heif_encoder* encoder = nullptr;
  if (heif_context_get_encoder_for_format(context, format, &encoder).code == heif_error_Ok) {
    heif_encoder_set_lossy_quality(encoder, 90);
    heif_encoding_options* options = heif_encoding_options_alloc();
    options->image_orientation = static_cast<heif_orientation>(orientation);
    heif_image* pixels = to_heif(image);
    heif_context_encode_image(context, pixels, encoder, options, nullptr);
    heif_writer writer{1, take_bytes};
    heif_context_write(context, &writer, &bytes);
    heif_image_release(pixels);
    heif_encoding_options_free(options);
    heif_encoder_release(encoder);
  }
  heif_context_free(context);
  return bytes;
}

}  // namespace vit::patch::test
