#include "vit/train/archive.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>

#include "vit/base/atomic_file.h"
#include "vit/base/hash.h"

namespace vit::train {
namespace {

std::uint64_t checksum(std::span<const char> bytes) {
  Hash hash;
  hash.add({bytes.data(), bytes.size()});
  return hash.value();
}

}  // namespace

void write_archive(const std::filesystem::path& path, const Magic& magic,
                   const ArchiveWriter& archive) {
  ArchiveWriter whole;
  whole.put(magic);
  whole.append(archive);
  whole.put(checksum(whole.bytes()));
  write_atomically(path, std::as_bytes(std::span(whole.bytes())));
}

ArchiveReader read_archive(const std::filesystem::path& path, const Magic& magic,
                           const std::string& what) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_at(path.string(), "cannot be opened");
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::uint64_t stored = 0;
  if (bytes.size() < magic.size() + sizeof stored ||
      !std::equal(magic.begin(), magic.end(), bytes.begin()))
    fail_at(path.string(), "is not a ", what, " of this version");
  const size_t body = bytes.size() - sizeof stored;
  std::memcpy(&stored, bytes.data() + body, sizeof stored);
  if (stored != checksum(std::span(bytes).first(body)))
    fail_at(path.string(), "damaged, its checksum differs");
  bytes.resize(body);
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(magic.size()));
  return {path.string(), std::move(bytes)};
}

}  // namespace vit::train
