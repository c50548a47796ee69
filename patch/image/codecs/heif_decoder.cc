// The module behind heif_decoders(): libheif, which decodes with libde265 and dav1d. Nothing of the
// library is linked into it but headers.
#include <libheif/heif.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "patch/image/codecs.h"
#include "patch/image/codecs/library_decoders.h"
#include "patch/image/codecs/without_exceptions.h"

namespace vit::patch {
namespace {

struct Closer {
  void operator()(heif_context* context) const { heif_context_free(context); }
  void operator()(heif_image_handle* handle) const { heif_image_handle_release(handle); }
  void operator()(heif_image* image) const { heif_image_release(image); }
  void operator()(heif_decoding_options* options) const { heif_decoding_options_free(options); }
};
template <typename T>
using Owned = std::unique_ptr<T, Closer>;

std::string reason(const heif_error& error) {
  if (error.code == heif_error_Memory_allocation_error &&
      error.subcode != heif_suberror_Security_limit_exceeded)
    throw std::bad_alloc();
  std::string text = error.message != nullptr ? error.message : "unknown error";
  while (text.ends_with('\n')) text.pop_back();
  return "libheif: " + text;
}

/// The size after turning and cutting, which is what libheif gives.
std::string take_size(const heif_image_handle* handle, Image& image) {
  const int width = heif_image_handle_get_width(handle);
  const int height = heif_image_handle_get_height(handle);
  if (width <= 0 || height <= 0) return "it is empty";
  const size_t pixels = static_cast<size_t>(width) * static_cast<size_t>(height);
  if (pixels > image.width * image.height) return "it has headers of two sizes";
  image.width = static_cast<size_t>(width);
  image.height = static_cast<size_t>(height);
  return "";
}

std::string copy_rows(const heif_image* from, Image& image) {
  const int width = heif_image_get_width(from, heif_channel_interleaved);
  const int height = heif_image_get_height(from, heif_channel_interleaved);
  if (static_cast<size_t>(width) != image.width || static_cast<size_t>(height) != image.height)
    return "it has headers of two sizes";
  int stride = 0;
  const std::uint8_t* rows = heif_image_get_plane_readonly(from, heif_channel_interleaved, &stride);
  if (rows == nullptr) return "libheif gives no pixels";
  for (size_t y = 0; y < image.height; ++y)
    std::memcpy(grown_row(y, image), rows + y * static_cast<size_t>(stride), 3 * image.width);
  return "";
}

/// libde265 decodes in a thread of its own, and waits for ever if that cannot be started. So it is
/// tried before, together with those that the other decoders of this moment may be about to start.
class ThreadToSpare {
 public:
  ThreadToSpare() {
    const size_t needed = ++decoders_;
    std::atomic<bool> tried{false};
    std::vector<std::jthread> threads;
    try {
      while (threads.size() < needed) threads.emplace_back([&] { tried.wait(false); });
    } catch (const std::system_error& error) {
      problem_ = std::string("no thread can be started for its decoder: ") + error.code().message();
    }
    tried = true;
    tried.notify_all();
  }
  ~ThreadToSpare() { --decoders_; }
  ThreadToSpare(const ThreadToSpare&) = delete;
  ThreadToSpare& operator=(const ThreadToSpare&) = delete;

  /// Empty: there is one.
  const std::string& problem() const { return problem_; }

 private:
  static inline std::atomic<size_t> decoders_{0};
  std::string problem_;
};

}  // namespace

std::string decode_heif(std::span<const std::byte> bytes, Image& image) {
  const Owned<heif_context> context(heif_context_alloc());
  const Owned<heif_decoding_options> options(heif_decoding_options_alloc());
  if (!context || !options) throw std::bad_alloc();
  heif_context_set_max_decoding_threads(context.get(), 0);  // the caller has threads of its own
  options->convert_hdr_to_8bit = 1;
  heif_error error = heif_context_read_from_memory_without_copy(context.get(), bytes.data(),
                                                                bytes.size(), nullptr);
  if (error.code != heif_error_Ok) return reason(error);
  heif_image_handle* found = nullptr;
  error = heif_context_get_primary_image_handle(context.get(), &found);
  const Owned<heif_image_handle> handle(found);
  if (error.code != heif_error_Ok) return reason(error);
  if (std::string problem = take_size(handle.get(), image); !problem.empty()) return problem;
  const ThreadToSpare thread;
  if (!thread.problem().empty()) return thread.problem();
  heif_image* decoded = nullptr;
  error = heif_decode_image(handle.get(), &decoded, heif_colorspace_RGB,
                            heif_chroma_interleaved_RGB, options.get());
  const Owned<heif_image> pixels(decoded);
  if (error.code != heif_error_Ok) return reason(error);
  heif_error warning{};
  if (heif_image_get_decoding_warnings(pixels.get(), 0, &warning, 1) > 0)
    image.damage = reason(warning);
  return copy_rows(pixels.get(), image);
}

}  // namespace vit::patch

extern "C" {
__attribute__((visibility("default"))) extern const vit::patch::HeifDecoders vit_heif_decoders;
const vit::patch::HeifDecoders vit_heif_decoders{
    vit::patch::without_exceptions<vit::patch::decode_heif>};
}
