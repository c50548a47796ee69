#include <gif_lib.h>

#include <cstring>
#include <memory>
#include <new>

#include "patch/image/codecs/library_decoders.h"

namespace vit::patch {
namespace {

struct Source {
  std::span<const std::byte> bytes;
  size_t at = 0;
};

int read_source(GifFileType* gif, GifByteType* to, int count) {
  auto& source = *static_cast<Source*>(gif->UserData);
  const size_t left = source.bytes.size() - source.at;
  const size_t given = std::min(static_cast<size_t>(std::max(count, 0)), left);
  if (given != 0) std::memcpy(to, source.bytes.data() + source.at, given);
  source.at += given;
  return static_cast<int>(given);
}

/// How many codes of a frame clear the table, up to one more than `most`. Found as giflib finds
/// them, which has read the first byte, the least size: codes grow with the table.
size_t count_clears(const Source& source, size_t most) {
  constexpr unsigned kMostBits = 12, kMostCodes = 4097;
  const auto byte = [&](size_t at) {
    return at < source.bytes.size() ? std::to_integer<unsigned>(source.bytes[at]) : 0;
  };
  const unsigned least = byte(source.at - 1);
  if (least >= kMostBits) return 0;  // giflib refuses it
  const unsigned clear = 1U << least;
  unsigned size = least + 1, codes = clear + 2, bits = 0, had = 0;
  size_t clears = 0, at = source.at;
  for (size_t left = byte(at); left != 0 && clears <= most; left = byte(at)) {
    for (++at; left != 0 && clears <= most; --left, ++at) {
      bits |= byte(at) << had;
      for (had += 8; had >= size;) {
        const unsigned code = bits & ((1U << size) - 1);
        bits >>= size;
        had -= size;
        if (code == clear + 1) return clears;
        if (code == clear) {
          ++clears;
          size = least + 1;
          codes = clear + 2;
        } else if (codes < kMostCodes && ++codes > 1U << size && size < kMostBits) {
          ++size;
        }
      }
    }
  }
  return clears;
}

struct Closer {
  void operator()(GifFileType* gif) const {
    int ignored = 0;
    DGifCloseFile(gif, &ignored);
  }
};
using GifHandle = std::unique_ptr<GifFileType, Closer>;

std::string reason(int error) {
  if (error == D_GIF_ERR_NOT_ENOUGH_MEM) throw std::bad_alloc();
  const char* text = GifErrorString(error);
  return std::string("giflib: ") + (text != nullptr ? text : "unknown error");
}

/// Reads up to the first frame. The colour with which the frame starts out: a transparent one if it
/// has one, as in Pillow.
std::string find_frame(GifFileType* gif, int& background) {
  for (GifRecordType type = UNDEFINED_RECORD_TYPE;;) {
    if (DGifGetRecordType(gif, &type) == GIF_ERROR) return reason(gif->Error);
    if (type == IMAGE_DESC_RECORD_TYPE)
      return DGifGetImageDesc(gif) == GIF_ERROR ? reason(gif->Error) : "";
    if (type != EXTENSION_RECORD_TYPE) return "it has no image";
    int label = 0;
    GifByteType* block = nullptr;
    if (DGifGetExtension(gif, &label, &block) == GIF_ERROR) return reason(gif->Error);
    while (block != nullptr) {
      GraphicsControlBlock control{};
      if (label == GRAPHICS_EXT_FUNC_CODE &&
          DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK &&
          control.TransparentColor != NO_TRANSPARENT_COLOR)
        background = control.TransparentColor;
      if (DGifGetExtensionNext(gif, &block) == GIF_ERROR) return reason(gif->Error);
    }
  }
}

/// The row of the frame that comes as the n-th: interlaced frames have every eighth first.
size_t row_of(size_t n, size_t height, bool interlaced) {
  if (!interlaced) return n;
  struct Pass {
    size_t start, step;
  };
  for (const Pass pass : {Pass{0, 8}, {4, 8}, {2, 4}, {1, 2}}) {
    const size_t rows = height > pass.start ? (height - pass.start - 1) / pass.step + 1 : 0;
    if (n < rows) return pass.start + n * pass.step;
    n -= rows;
  }
  return 0;
}

void put(const GifColorType& colour, std::uint8_t* to) {
  to[0] = colour.Red;
  to[1] = colour.Green;
  to[2] = colour.Blue;
}

void fill(const GifColorType& colour, Image& image) {
  for (size_t at = 0; at < image.pixels.size(); at += 3) put(colour, &image.pixels[at]);
}

}  // namespace

std::string decode_gif(std::span<const std::byte> bytes, Image& image) {
  Source source{bytes};
  int error = 0;
  const GifHandle gif(DGifOpen(&source, read_source, &error));
  if (!gif) return reason(error);
  int background = 0;
  if (std::string problem = find_frame(gif.get(), background); !problem.empty()) return problem;
  const GifImageDesc& frame = gif->Image;
  const ColorMapObject* colours = frame.ColorMap != nullptr ? frame.ColorMap : gif->SColorMap;
  if (colours == nullptr) return "it has no colours";
  const auto left = static_cast<size_t>(frame.Left), top = static_cast<size_t>(frame.Top);
  const auto width = static_cast<size_t>(frame.Width), height = static_cast<size_t>(frame.Height);
  if (left + width > image.width || top + height > image.height || width == 0)
    return "its first frame leaves the image";
  const auto line = std::make_unique<GifPixelType[]>(width);
  // Each takes giflib as long as thousands of pixels. Files that are not compressed have one for
  // about every hundred.
  constexpr size_t kMostClears = size_t{1} << 20;
  if (count_clears(source, kMostClears) > kMostClears)
    return "it clears its table of codes more than a million times, as only a malicious file does";
  const bool covers = width == image.width && height == image.height;
  if (!covers) {
    grow_to(image.height, image);
    fill(colours->Colors[background < colours->ColorCount ? background : 0], image);
  }
  for (size_t n = 0; n < height; ++n) {
    if (DGifGetLine(gif.get(), line.get(), frame.Width) == GIF_ERROR) return reason(gif->Error);
    std::uint8_t* to = grown_row(top + row_of(n, height, frame.Interlace), image) + 3 * left;
    for (size_t x = 0; x < width; ++x, to += 3) {
      if (line[x] >= colours->ColorCount) return "some pixels have colours beyond its palette";
      put(colours->Colors[line[x]], to);
    }
  }
  grow_to(image.height, image);
  return "";
}

}  // namespace vit::patch
