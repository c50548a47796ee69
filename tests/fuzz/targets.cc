#include "tests/fuzz/targets.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "patch/image/image.h"
#include "patch/image/image_header.h"
#include "tests/fuzz/seeds.h"
#include "tests/support/folder.h"
#include "tests/weights/support.h"
#include "tests/weights/truth.h"
#include "tools/serve/http/message.h"
#include "tools/serve/inputs.h"
#include "tools/serve/multipart.h"
#include "tools/serve/v2_tensors.h"
#include "tools/sources/gzip_file.h"
#include "tools/sources/tar.h"
#include "tools/sources/zip.h"
#include "vit/base/error.h"
#include "vit/index/file.h"
#include "vit/index/layout.h"
#include "vit/text/sentencepiece_file.h"
#include "vit/text/tokenizer_json.h"
#include "weights/checkpoint.h"
#include "weights/configs/config_files.h"
#include "weights/configs/self_description.h"
#include "weights/formats/npz.h"
#include "weights/formats/pickle.h"
#include "weights/formats/safetensors.h"
#include "weights/formats/tensor_file.h"
#include "weights/tensor_list.h"

namespace vit::fuzz {
namespace {

namespace fs = std::filesystem;
using Bytes = std::span<const std::byte>;
using weights::Fields;

/// A file in memory only: the readers take paths.
class MemoryFile {
 public:
  explicit MemoryFile(Bytes bytes) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (file_ < 0) throw std::runtime_error("no memory file");
    for (Bytes rest = bytes; !rest.empty();) {
      const auto written = ::write(file_, rest.data(), rest.size());
      if (written <= 0) throw std::runtime_error("cannot write a memory file");
      rest = rest.subspan(static_cast<size_t>(written));
    }
  }
  ~MemoryFile() { ::close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  fs::path path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

/// Reads the first and the last numbers: a view may be larger than its bytes, by strides of 0.
void touch(const weights::Tensor& tensor) {
  constexpr size_t kMost = 4096;
  const size_t count = weights::element_count(tensor.shape), some = std::min(count, kMost);
  std::vector<float> values(some);
  weights::read_elements(tensor, 0, some, values.data());
  weights::read_elements(tensor, count - some, some, values.data());
}

void touch(const weights::TensorFile& file) {
  for (const auto& [name, tensor] : file.tensors) touch(tensor);
}

/// Detects the format; then reads the bytes as a whole model.
void parse_tensors(Bytes bytes) {
  const MemoryFile file(bytes);
  touch(weights::read_tensor_file(file.path()));
  const weights::Checkpoint checkpoint = weights::open(file.path());
  for (const auto& [name, weight] : checkpoint.weights())
    for (const auto& part : weight.parts()) touch(part);
}

void parse_safetensors(Bytes bytes) {
  const MemoryFile file(bytes);
  touch(weights::read_safetensors(file.path()));
  parse_tensors(bytes);
}

/// Two good shards, for which the bytes are the index.
class Shards {
 public:
  Shards() {
    for (const std::string shard : {"a", "b"})
      folder_.write(shard + ".safetensors",
                    weights::test::safetensors({{shard, weights::test::numbered({2})}}));
  }
  fs::path write_index(Bytes bytes) const {
    return folder_.write("model.safetensors.index.json",
                         {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

 private:
  test::Folder folder_;
};

void parse_index(Bytes bytes) {
  static const Shards shards;
  touch(weights::read_sharded_safetensors(shards.write_index(bytes)));
}

void parse_pickle(Bytes bytes) {
  weights::named_tensors(weights::read_pickle(bytes, "fuzz"), "fuzz");
}

/// A whole file that describes itself: the bytes are its metadata, a JSON object of texts, and its
/// tensors are those that the configuration in them demands, if they are few.
void parse_self_description(Bytes bytes) {
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  const nlohmann::json metadata = weights::parse_json(text, "fuzz");
  weights::Metadata entries;
  for (const auto& [name, value] : metadata.items())
    if (value.is_string()) entries.emplace(name, value.get<std::string>());
  const weights::ModelCard card = weights::read_self_description(entries, "fuzz");
  validate(card.config, "fuzz");
  validate(card.recipe, "fuzz");
  nlohmann::json header{{"__metadata__", entries}};
  size_t end = 0;
  constexpr size_t kMostNumbers = 1 << 16, kMostListed = 1000;
  if (card.config.encoder.depth * card.config.encoder.branches <= kMostListed)
    for (const auto& spec : weights::tensors_of(card.config)) {
      const size_t count = weights::element_count(spec.shape);
      if (count > kMostNumbers || end > sizeof(float) * kMostNumbers) break;
      header[spec.name] = {{"dtype", "F32"},
                           {"shape", spec.shape},
                           {"data_offsets", {end, end + sizeof(float) * count}}};
      end += sizeof(float) * count;
    }
  const std::string file = weights::test::safetensors(header.dump(), std::string(end, '\0'));
  parse_tensors(std::as_bytes(std::span(file)));
}

void parse_npy(Bytes bytes) {
  touch(weights::read_npy(bytes, {"fuzz", "array"}));
}

void check(const weights::ModelCard& card) {
  validate(card.config, "fuzz");
  weights::tensors_of(card.config);
}

/// The fields of a config tell its kind.
void parse_config(Bytes bytes) {
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  const nlohmann::json content = weights::parse_json(text, "fuzz");
  const Fields file(content, "fuzz");
  ModelConfig inferred = weights::test::tiny_config();
  if (file.has("architecture")) return check(weights::read_timm_config(file));
  if (file.has("model_cfg")) return check(weights::read_open_clip_config(file, inferred));
  if (file.has("model_type")) return check(weights::read_hf_config(file, inferred));
  weights::Metadata metadata;
  for (const auto& [name, value] : content.items())
    if (value.is_string()) metadata.emplace(name, value.get<std::string>());
  weights::ModelCard card{inferred, {}, {}, {}};
  weights::apply_metadata(metadata, card);
  if (weights::describes_itself(metadata))
    return check(weights::read_self_description(metadata, "fuzz"));
  for (const auto* type : {"vit", "dinov2", "siglip"})
    weights::read_preprocessor(file, type, inferred);
}

void parse_image(Bytes bytes) {
  const patch::ImageHeader header = patch::read_header(bytes);
  patch::describe_unknown(bytes);
  patch::exif_orientation(bytes);
  if (header.format == patch::FileFormat::kPng) patch::essential_png(bytes);
}

/// Decodes the pixels, too, but only of small images: large ones take too long.
void decode_image(Bytes bytes) {
  patch::DecodeOptions options;
  options.max_pixels = 1'000'000;
  const patch::Image image = patch::decode(bytes, "fuzz", options);
  assert(image.pixels.size() == image.width * image.height * 3);
}

/// Texts of all kinds: known, unknown and none.
void encode_texts(const text::Tokenizer& tokenizer) {
  for (const auto* text : {"a photo of a cat", "\u00E9\u2581 <unk>\U0001F436", ""})
    text::encode(tokenizer, text, 16);
}

void parse_tokenizer(Bytes bytes) {
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  const nlohmann::json content = weights::parse_json(text, "fuzz", text::kTokenizerLimits);
  encode_texts(text::parse_tokenizer_json(content, "fuzz"));
}

/// With correct checksums, since fuzzing would never get past wrong ones.
std::string with_right_sums(Bytes bytes) {
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto rest = [&](size_t at, std::uint64_t count) {
    return std::as_bytes(std::span(text))
        .subspan(at, std::min<std::uint64_t>(count, text.size() - at));
  };
  index::FileHeader header;
  if (text.size() < sizeof header) return text;
  std::memcpy(&header, text.data(), sizeof header);
  header.description_sum = index::checksum(rest(sizeof header, header.description_bytes));
  header.sum = index::header_sum(header);
  std::memcpy(text.data(), &header, sizeof header);
  const std::uint64_t row_bytes = header.width % index::kMostWidth * (header.type == 0 ? 4 : 2);
  std::uint64_t at = sizeof header + index::aligned(header.description_bytes % text.size());
  index::BlockHeader block;
  while (at + sizeof block <= text.size()) {
    std::memcpy(&block, text.data() + at, sizeof block);
    const std::uint64_t numbers = block.rows % text.size() * row_bytes,
                        table = at + sizeof block + index::aligned(numbers);
    if (table < text.size()) block.table_sum = index::checksum(rest(table, block.table_bytes));
    block.sum = index::header_sum(block);
    std::memcpy(text.data() + at, &block, sizeof block);
    at = table + index::aligned(block.table_bytes % text.size());
  }
  return text;
}

void read_search_index(Bytes bytes) {
  const MemoryFile file(bytes);
  const index::Index index = index::read_index(file.path());
  Matrix row(1, index.vectors.width);
  for (const size_t live : index::live_rows(index.vectors))
    index::read_rows(index.vectors, std::span(&live, 1), row);
  index::check_numbers(index, "fuzz");
}

void parse_search_index(Bytes bytes) {
  const std::string sealed = with_right_sums(bytes);
  read_search_index(std::as_bytes(std::span(sealed)));
  read_search_index(bytes);
}

void parse_sentencepiece(Bytes bytes) {
  encode_texts(text::read_sentencepiece({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                        "fuzz"));
}

/// Checks that members lie within the file, one after the other.
void parse_tar(Bytes bytes) {
  const MemoryFile memory(bytes);
  const tools::ReadableFile file(memory.path());
  const std::atomic<bool> never{false};
  std::uint64_t end = 0;
  const auto check_member = [&](const tools::TarMember& member) {
    if (member.offset <= end || member.offset > bytes.size() ||
        member.size > bytes.size() - member.offset)
      throw std::logic_error("a tar member that is not in the file");
    end = member.offset;
    return true;
  };
  tools::visit_tar(file, check_member, never);
}

/// Reads from the contents as much as small images need.
void parse_zip(Bytes bytes) {
  const MemoryFile memory(bytes);
  const tools::ReadableFile file(memory.path());
  const std::atomic<bool> never{false};
  std::vector<std::byte> content(std::size_t{1} << 16);
  const auto read_member = [&](const tools::ZipMember& member) {
    try {
      const auto read = tools::zip_reader(file, member, "fuzz");
      read(100, content);
      read(0, content);
    } catch (const Error&) {
    }
    return true;
  };
  tools::visit_zip(file, read_member, never);
}

/// Reads from the start, from the middle, and again.
void parse_gzip(Bytes bytes) {
  const MemoryFile memory(bytes);
  const tools::ReadableFile file(memory.path());
  const tools::GzipFile gzip(file);
  const std::atomic<bool> never{false};
  std::vector<std::byte> content(std::size_t{1} << 16);
  for (const std::uint64_t offset : {0, 1000, 1 << 20, 10}) gzip.read(offset, content, never);
}

/// The first line is the Content-Type, the rest the body. Parts lie within it, without overlap.
void parse_form(Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const size_t line = std::min(text.find('\n'), text.size());
  const std::string_view body = text.substr(std::min(line + 1, text.size()));
  const std::string boundary = tools::serve::form_boundary(text.substr(0, line));
  const char* end = body.data();
  for (const auto& part : tools::serve::parse_form(body, boundary, 100)) {
    if (part.content.data() < end ||
        part.content.data() + part.content.size() > body.data() + body.size())
      throw std::logic_error("a part of a form that is not in its body");
    end = part.content.data() + part.content.size();
  }
}

std::string take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string line(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// A request of request_seeds(), to the end of what is read before an image is decoded.
void parse_request(Bytes bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  tools::serve::Request request;
  request.target = take_line(text);
  request.headers.emplace_back("content-type", take_line(text));
  request.headers.emplace_back(tools::serve::kJsonLength, take_line(text));
  request.body = text;
  if (!parse_target(request)) return;
  if (request.path.starts_with("/v2")) {
    const auto infer = tools::serve::parse_infer(request);
    infer_reply("model", infer, {{"logits", {1, 1}, {0.5f}, infer.binary}});
    return;
  }
  constexpr size_t kMostImages = 100;
  const auto inputs = tools::serve::read_inputs(request, kMostImages, true);
  if (inputs.images.size() > kMostImages) throw std::logic_error("more images than allowed");
  if (inputs.fields.contains("embeddings"))
    for (const auto& one : inputs.fields["embeddings"]) tools::serve::numbers_of(one, "one");
  for (const auto* name : {"k", "labels", "threshold"}) setting(request, inputs.fields, name);
}

template <void (*parse)(Bytes)>
void swallow_errors(Bytes bytes) {
  try {
    parse(bytes);
  } catch (const Error&) {
  }
}

constexpr Target kTargets[] = {
    {"safetensors", swallow_errors<parse_safetensors>, safetensors_seeds},
    {"index", swallow_errors<parse_index>, index_seeds},
    {"pickle", swallow_errors<parse_pickle>, pickle_seeds},
    {"pth", swallow_errors<parse_tensors>, pth_seeds},
    {"legacy_pth", swallow_errors<parse_tensors>, legacy_pth_seeds},
    {"npy", swallow_errors<parse_npy>, npy_seeds},
    {"npz", swallow_errors<parse_tensors>, npz_seeds},
    {"gguf", swallow_errors<parse_tensors>, gguf_seeds},
    {"ggml", swallow_errors<parse_tensors>, ggml_seeds},
    {"self_description", swallow_errors<parse_self_description>, self_description_seeds},
    {"config", swallow_errors<parse_config>, config_seeds},
    {"image", swallow_errors<parse_image>, image_seeds},
    {"tar", swallow_errors<parse_tar>, tar_seeds},
    {"zip", swallow_errors<parse_zip>, zip_seeds},
    {"gzip", swallow_errors<parse_gzip>, gzip_seeds},
    {"form", swallow_errors<parse_form>, form_seeds},
    {"request", swallow_errors<parse_request>, request_seeds},
    {"jpeg", swallow_errors<decode_image>, jpeg_seeds},
    {"bmp", swallow_errors<decode_image>, bmp_seeds},
    {"tiff", swallow_errors<decode_image>, tiff_seeds},
    {"webp", swallow_errors<decode_image>, webp_seeds},
    {"gif", swallow_errors<decode_image>, gif_seeds},
    {"heif", swallow_errors<decode_image>, heif_seeds},
    {"tokenizer_json", swallow_errors<parse_tokenizer>, tokenizer_json_seeds},
    {"search_index", swallow_errors<parse_search_index>, search_index_seeds},
    {"sentencepiece", swallow_errors<parse_sentencepiece>, sentencepiece_seeds},
};

}  // namespace

std::span<const Target> targets() {
  return kTargets;
}

const Target& target(std::string_view name) {
  const auto found = std::ranges::find(kTargets, name, &Target::name);
  assert(found != std::end(kTargets));
  return *found;
}

}  // namespace vit::fuzz
