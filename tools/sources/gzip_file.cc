#include "tools/sources/gzip_file.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>

#include "vit/base/error.h"

namespace vit::tools {
namespace {

constexpr std::size_t kWindow = 32768;
constexpr std::size_t kInput = 65536;
constexpr std::size_t kMostIdle = 8;
constexpr std::uint64_t kBetweenMarks = std::uint64_t{4} << 20;
constexpr std::uint64_t kMarksPerDoubling = 512;  // of the content, so that marks stay few

// Images hardly compress. A file that grows far beyond its size is made to waste time.
constexpr std::uint64_t kHarmless = std::uint64_t{100} << 20, kMostGrowth = 200;

constexpr int kGzip = 16 + MAX_WBITS, kRaw = -MAX_WBITS;

}  // namespace

/// A place between two deflate blocks, and the bytes before it that later ones may repeat.
struct GzipFile::Mark {
  std::uint64_t from = 0;  ///< offset of the next byte in the file
  std::uint64_t to = 0;    ///< offset in the decompressed content
  int bits = 0;            ///< of the byte before `from` that are not decoded yet
  std::vector<Bytef> window{};
};

/// Decompresses forward only.
class GzipFile::Decoder {
 public:
  explicit Decoder(const ReadableFile& file) : file_(file) { start(kGzip); }

  Decoder(const ReadableFile& file, const Mark& mark)
      : file_(file), from_(mark.from), to_(mark.to), raw_(true) {
    start(kRaw);
    if (mark.bits != 0) {
      std::array<std::byte, 1> before{};
      file_.read(mark.from - 1, before);
      inflatePrime(&stream_, mark.bits, std::to_integer<int>(before[0]) >> (8 - mark.bits));
    }
    inflateSetDictionary(&stream_, mark.window.data(), static_cast<uInt>(mark.window.size()));
  }

  ~Decoder() { inflateEnd(&stream_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  std::uint64_t place() const { return to_; }

  /// Decompresses until `bytes` are full, a block ends, or the file does (`ended`). Returns how
  /// many bytes there are.
  std::size_t step(std::span<std::byte> bytes) {
    if (stream_.avail_in == 0 && !refill() && !between_) cut_short();
    if (between_ && !next_stream()) return 0;
    const auto room = static_cast<uInt>(std::min<std::size_t>(bytes.size(), 1 << 30));
    stream_.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream_.avail_out = room;
    const int status = inflate(&stream_, Z_BLOCK);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status == Z_DATA_ERROR || status == Z_NEED_DICT || status == Z_STREAM_ERROR) damaged();
    const std::size_t made = room - stream_.avail_out;
    to_ += made;
    if (to_ > kHarmless && to_ / kMostGrowth > consumed())
      fail_at(file_.path(), "decompresses to more than ", kMostGrowth,
              " times its size, which images do not; unpack it first if you trust it");
    if (status == Z_STREAM_END) end_stream();
    return made;
  }

  bool ended() const { return ended_; }

  bool at_mark() const {
    return !between_ && (stream_.data_type & 128) != 0 && (stream_.data_type & 64) == 0;
  }
  std::shared_ptr<const Mark> mark() {
    auto mark = std::make_shared<Mark>(Mark{consumed(), to_, stream_.data_type & 7});
    mark->window.resize(kWindow);
    uInt length = kWindow;
    inflateGetDictionary(&stream_, mark->window.data(), &length);
    mark->window.resize(length);
    return mark;
  }

 private:
  void start(int bits) {
    if (inflateInit2(&stream_, bits) != Z_OK) throw std::bad_alloc();
  }

  std::uint64_t consumed() const { return from_ - stream_.avail_in; }

  /// False: the file has ended.
  bool refill() {
    const std::size_t got = file_.read(from_, std::as_writable_bytes(std::span(input_)));
    from_ += got;
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(got);
    return got != 0;
  }

  void skip_input(std::size_t count) {
    for (; count > 0; --count) {
      if (stream_.avail_in == 0 && !refill()) cut_short();
      ++stream_.next_in;
      --stream_.avail_in;
    }
  }

  /// zlib checks sum and length itself unless it started at a mark.
  void end_stream() {
    if (raw_) skip_input(8);
    between_ = true;
  }

  /// Some programs write one stream after the other. What follows them may be padding.
  bool next_stream() {
    if ((stream_.avail_in == 0 && !refill()) || *stream_.next_in != 0x1f) {
      ended_ = true;
      return false;
    }
    inflateReset2(&stream_, kGzip);
    raw_ = between_ = false;
    return true;
  }

  [[noreturn]] void cut_short() const {
    fail_at(file_.path(), "this gzip file is truncated: it ends after ", file_.size(), " bytes");
  }
  [[noreturn]] void damaged() const {
    fail_at(file_.path(), consumed() < 4 ? "not a gzip file" : "damaged gzip file",
            consumed() < 4 ? "" : ", at byte ",
            consumed() < 4 ? std::string() : std::to_string(consumed()));
  }

  const ReadableFile& file_;
  z_stream stream_{};
  std::vector<Bytef> input_ = std::vector<Bytef>(kInput);
  std::uint64_t from_ = 0;  ///< offset in the file after the bytes in `input_`
  std::uint64_t to_ = 0;
  bool raw_ = false;      ///< started at a mark, without gzip's header and sum
  bool between_ = false;  ///< two streams
  bool ended_ = false;
};

GzipFile::GzipFile(const ReadableFile& file) : file_(file) {}
GzipFile::~GzipFile() = default;

/// The nearest one before `offset`: an idle one, or a new one that starts at a mark.
std::unique_ptr<GzipFile::Decoder> GzipFile::decoder_before(std::uint64_t offset) const {
  std::shared_ptr<const Mark> mark;
  {
    const std::lock_guard lock(mutex_);
    const auto behind =
        std::ranges::upper_bound(marks_, offset, {}, [](const auto& m) { return m->to; });
    if (behind != marks_.begin()) mark = *std::prev(behind);
    auto best = idle_.end();
    for (auto it = idle_.begin(); it != idle_.end(); ++it)
      if ((*it)->place() <= offset && (best == idle_.end() || (*it)->place() > (*best)->place()))
        best = it;
    if (best != idle_.end() && (!mark || (*best)->place() >= mark->to)) {
      auto decoder = std::move(*best);
      idle_.erase(best);
      return decoder;
    }
  }
  return mark ? std::make_unique<Decoder>(file_, *mark) : std::make_unique<Decoder>(file_);
}

void GzipFile::keep(std::unique_ptr<Decoder> decoder) const {
  const std::lock_guard lock(mutex_);
  if (idle_.size() == kMostIdle) idle_.erase(idle_.begin());
  idle_.push_back(std::move(decoder));
}

std::size_t GzipFile::read(std::uint64_t offset, std::span<std::byte> bytes,
                           const std::atomic<bool>& stop) const {
  auto decoder = decoder_before(offset);
  std::vector<std::byte> skipped(kInput);
  std::size_t had = 0;
  while (had < bytes.size() && !decoder->ended()) {
    if (stop) return 0;
    const std::uint64_t left = offset - std::min(offset, decoder->place());
    if (left > 0)
      decoder->step(std::span(skipped).first(std::min<std::uint64_t>(left, skipped.size())));
    else
      had += decoder->step(bytes.subspan(had));
    if (!decoder->at_mark()) continue;
    const std::lock_guard lock(mutex_);
    const std::uint64_t last = marks_.empty() ? 0 : marks_.back()->to, here = decoder->place();
    if (here >= last + std::max(kBetweenMarks, here / kMarksPerDoubling))
      marks_.push_back(decoder->mark());
  }
  keep(std::move(decoder));
  return had;
}

}  // namespace vit::tools
