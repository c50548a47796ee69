#include "weights/formats/pth.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "vit/base/error.h"
#include "weights/formats/pickle.h"
#include "weights/numbers.h"

namespace vit::weights {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view kPickleName = "data.pkl";
constexpr size_t kLargestPickle = 32 << 20;

// PROTO 2, LONG1 0x1950a86a20f9469cfc6c, STOP: how torch.save began before 1.6.
constexpr unsigned char kLegacyMagic[] = {0x80, 0x02, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46,
                                          0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, 0x2e};

/// Checks that the view stays inside its storage.
Tensor resolve(const Subject& tensor, const PickledTensor& pickled, Bytes storage) {
  if (pickled.shape.size() != pickled.strides.size())
    fail_at(tensor, "has ", pickled.shape.size(), " sizes and ", pickled.strides.size(),
            " strides");
  const size_t bytes = checked_bytes(tensor, pickled.dtype, pickled.shape);
  const size_t held = storage.size() / byte_count(pickled.dtype, 1);
  size_t last = pickled.offset;
  bool inside = last <= held;
  for (size_t i = 0; i < pickled.shape.size() && inside && bytes != 0; ++i) {
    const size_t steps = pickled.shape[i] - 1, stride = pickled.strides[i];
    inside = stride == 0 || steps <= (held - last) / stride;
    if (inside) last += steps * stride;
  }
  if (!inside || (bytes != 0 && last >= held))
    fail_at(tensor, "of shape ", to_string(pickled.shape), " reaches beyond its storage of ", held,
            " numbers");
  return {pickled.dtype, pickled.shape, pickled.strides,
          storage.data() + byte_count(pickled.dtype, pickled.offset)};
}

const ZipEntry* find_pickle(const ZipArchive& archive) {
  for (const auto& entry : archive.entries())
    if (entry.name == kPickleName || entry.name.ends_with("/data.pkl")) return &entry;
  return nullptr;
}

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Reads pickles from a stream, one after the other.
Pickle next_pickle(Bytes& rest, const std::string& where) {
  Pickle pickle = read_pickle(rest.first(std::min(rest.size(), kLargestPickle)), where);
  rest = rest.subspan(pickle.length);
  return pickle;
}

/// Each storage: 8 bytes of count, then the numbers, in the order of the last pickle's keys.
std::map<std::string, Bytes> legacy_storages(const Pickle& keys, Bytes rest,
                                             const std::map<std::string, DType>& dtypes,
                                             const std::string& where) {
  std::map<std::string, Bytes> storages;
  for (const NodeId id : keys.nodes[keys.root].items) {
    const std::string key(keys.nodes[id].text);
    if (rest.size() < 8) fail_at(where, "cut short before storage '", key, "'");
    const auto count = load<std::uint64_t>(rest.data());
    rest = rest.subspan(8);
    const auto dtype = dtypes.find(key);
    if (dtype == dtypes.end()) fail_at(where, "storage '", key, "' belongs to no known tensor");
    const size_t size = byte_count(dtype->second, 1);
    if (count > rest.size() / size)
      fail_at(where, "cut short: storage '", key, "' needs ", count, " numbers");
    storages.emplace(key, rest.first(count * size));
    rest = rest.subspan(count * size);
  }
  return storages;
}

}  // namespace

bool looks_like_pth(const ZipArchive& archive) {
  return find_pickle(archive) != nullptr;
}

TensorFile read_pth(ZipArchive archive) {
  const std::string& where = archive.path();
  const ZipEntry& pickle_entry = *find_pickle(archive);
  const std::string root =
      pickle_entry.name.substr(0, pickle_entry.name.size() - kPickleName.size());
  if (pickle_entry.size > kLargestPickle)
    fail_at(where, "its pickle has ", pickle_entry.size, " bytes, at most ", kLargestPickle);
  if (const auto* order = archive.find(root + "byteorder"))
    if (text_of(archive.read(*order)) != "little") fail_at(where, "its numbers are big-endian");

  const Pickle pickle = read_pickle(archive.read(pickle_entry), where);
  std::map<std::string, Bytes> storages;  // shared ones are read once
  TensorFile result{
      .format = WeightFormat::kPyTorchZip, .tensors = {}, .metadata = {}, .storage = {}};
  for (const auto& [name, pickled] : named_tensors(pickle, where)) {
    auto storage = storages.find(pickled.storage);
    if (storage == storages.end()) {
      const ZipEntry* entry = archive.find(root + "data/" + pickled.storage);
      if (entry == nullptr)
        fail_at(where, "tensor '", name, "' has no storage 'data/", pickled.storage, "'");
      storage = storages.emplace(pickled.storage, archive.read(*entry)).first;
    }
    result.tensors.emplace(name, resolve(tensor_of(where, name), pickled, storage->second));
  }
  result.storage = archive.storage();
  return result;
}

bool looks_like_legacy_pth(Bytes bytes) {
  return bytes.size() > sizeof kLegacyMagic &&
         std::equal(std::begin(kLegacyMagic), std::end(kLegacyMagic), bytes.begin(),
                    [](unsigned char a, std::byte b) { return std::byte{a} == b; });
}

TensorFile read_legacy_pth(const std::filesystem::path& path) {
  const std::string where = path.string();
  auto file = map_file(path);
  Bytes rest = file->bytes().subspan(sizeof kLegacyMagic);
  next_pickle(rest, where);  // protocol version
  next_pickle(rest, where);  // sizes of C types where it was written
  const Pickle content = next_pickle(rest, where);
  const Pickle keys = next_pickle(rest, where);

  std::map<std::string, DType> dtypes;
  for (const auto& tensor : content.tensors) dtypes.emplace(tensor.storage, tensor.dtype);
  const auto storages = legacy_storages(keys, rest, dtypes, where);
  TensorFile result{
      .format = WeightFormat::kLegacyPyTorch, .tensors = {}, .metadata = {}, .storage = {}};
  for (const auto& [name, pickled] : named_tensors(content, where)) {
    const auto storage = storages.find(pickled.storage);
    if (storage == storages.end())
      fail_at(where, "tensor '", name, "' has no storage '", pickled.storage, "'");
    result.tensors.emplace(name, resolve(tensor_of(where, name), pickled, storage->second));
  }
  result.storage.push_back(std::move(file));
  return result;
}

}  // namespace vit::weights
