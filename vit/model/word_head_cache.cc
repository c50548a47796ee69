#include "vit/model/word_head_cache.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "vit/base/atomic_file.h"
#include "vit/base/error.h"
#include "vit/base/hash.h"

namespace vit {
namespace {

namespace fs = std::filesystem;

// Part of the key: another way to compute rows needs another number.
constexpr std::uint64_t kVersion = 1;
constexpr std::uint64_t kMagic = 0x0064616568746976;  // "vithead"

// Any of these files beside the weights can change the feature of a text.
constexpr std::array kFiles{"config.json",
                            "open_clip_config.json",
                            "bpe_simple_vocab_16e6.txt.gz",
                            "tokenizer.json",
                            "vocab.json",
                            "merges.txt",
                            "spiece.model",
                            "tokenizer.model",
                            "vocab.txt",
                            "tokenizer_config.json",
                            "special_tokens_map.json"};

class TwoHashes {
 public:
  TwoHashes() { second_.add(kMagic); }
  void add(std::string_view bytes) {
    first_.add(bytes);
    second_.add(bytes);
  }
  void add(std::uint64_t number) {
    first_.add(number);
    second_.add(number);
  }
  WordHeadKey key() const { return {first_.value(), second_.value()}; }

 private:
  Hash first_, second_;
};

void add_file(const fs::path& path, TwoHashes& hash) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return;
  hash.add(path.filename().string());
  std::vector<char> piece(1 << 20);
  while (stream.read(piece.data(), static_cast<std::streamsize>(piece.size())) ||
         stream.gcount() > 0)
    hash.add({piece.data(), static_cast<size_t>(stream.gcount())});
}

void add_weight(const weights::Weight& weight, TwoHashes& hash) {
  for (const size_t edge : weight.shape()) hash.add(edge);
  std::vector<float> row(weight.cols());
  for (const weights::Tensor& part : weight.parts()) {
    hash.add(static_cast<std::uint64_t>(part.dtype));
    const size_t count = weights::element_count(part.shape);
    if (part.strides != weights::contiguous_strides(part.shape)) continue;
    hash.add({reinterpret_cast<const char*>(part.data), weights::byte_count(part.dtype, count)});
  }
  // Views that are not contiguous, and scales of integers, are read as the model reads them.
  for (const weights::Tensor& part : weight.parts()) {
    if (part.strides == weights::contiguous_strides(part.shape) && !weight.is_int8()) continue;
    for (size_t r = 0; r < weight.rows(); ++r) {
      weight.read_rows(r, 1, row.data());
      hash.add({reinterpret_cast<const char*>(row.data()), row.size() * sizeof(float)});
    }
    return;
  }
}

fs::path file_of(const fs::path& folder, const WordHeadKey& key) {
  std::array<char, 24> name{};
  std::snprintf(name.data(), name.size(), "%016llx", static_cast<unsigned long long>(key.name));
  return folder / (std::string(name.data()) + ".rows");
}

struct Header {
  std::uint64_t magic = kMagic;
  WordHeadKey key;
  std::uint64_t labels = 0;
  std::uint64_t features = 0;
  std::uint64_t truncated = 0;
  std::uint64_t content = 0;  ///< hash of all that follows
};

std::uint64_t hash_of(std::string_view bytes) {
  Hash hash;
  hash.add(bytes);
  return hash.value();
}

}  // namespace

WordHeadKey key_of(const weights::TextCheckpoint& text, std::span<const text::WordLabel> labels,
                   std::span<const fs::path> clip_vocabularies) {
  TwoHashes hash;
  hash.add(kVersion);
  for (const auto& [name, weight] : text.tower.weights()) {
    hash.add(name);
    add_weight(weight, hash);
  }
  for (const auto* name : kFiles) add_file(text.folder / name, hash);
  for (const auto& path : clip_vocabularies) add_file(path, hash);
  for (const auto& label : labels) {
    hash.add(label.prompts.size());
    for (const auto& prompt : label.prompts) hash.add(prompt);
  }
  return hash.key();
}

std::optional<WordRows> read_word_rows(const fs::path& folder, const WordHeadKey& key,
                                       size_t labels, size_t features) {
  std::ifstream stream(file_of(folder, key), std::ios::binary);
  if (!stream) return {};
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  Header header;
  if (bytes.size() < sizeof header) return {};
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::string_view content = std::string_view(bytes).substr(sizeof header);
  const size_t row_bytes = labels * features * sizeof(float);
  const bool fits = header.magic == kMagic && header.key == key && header.labels == labels &&
                    header.features == features && content.size() >= row_bytes &&
                    content.size() - row_bytes == header.truncated * sizeof(std::uint64_t) &&
                    header.content == hash_of(content);
  if (!fits) return {};
  WordRows rows{Matrix(labels, features), std::vector<std::uint64_t>(header.truncated)};
  std::memcpy(rows.rows.data(), content.data(), row_bytes);
  if (header.truncated != 0)
    std::memcpy(rows.truncated.data(), content.data() + row_bytes, content.size() - row_bytes);
  return rows;
}

void write_word_rows(const fs::path& folder, const WordHeadKey& key, const WordRows& rows) {
  const ConstMatrixView view = rows.rows;
  std::string content;
  for (size_t r = 0; r < view.rows; ++r)
    content.append(reinterpret_cast<const char*>(view.row(r)), view.cols * sizeof(float));
  content.append(reinterpret_cast<const char*>(rows.truncated.data()),
                 rows.truncated.size() * sizeof(std::uint64_t));
  const Header header{.key = key,
                      .labels = view.rows,
                      .features = view.cols,
                      .truncated = rows.truncated.size(),
                      .content = hash_of(content)};
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += content;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return;
  try {
    write_atomically(file_of(folder, key), std::as_bytes(std::span(bytes)));
  } catch (const Error&) {  // a full or read-only disk costs time, not the answer
  }
}

}  // namespace vit
