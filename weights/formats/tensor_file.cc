#include "weights/formats/tensor_file.h"

#include <limits>
#include <utility>

#include "vit/base/error.h"
#include "weights/formats/mapped_file.h"
#include "weights/formats/npz.h"
#include "weights/formats/pth.h"
#include "weights/formats/safetensors.h"

namespace vit::weights {
namespace {

TensorFile read_zip(const std::filesystem::path& path) {
  ZipArchive archive(path);
  if (looks_like_pth(archive)) return read_pth(std::move(archive));
  if (looks_like_npz(archive)) return read_npz(std::move(archive));
  fail(path.string(), ": is a ZIP archive, but neither of PyTorch (no data.pkl) nor of NumPy (no ",
       ".npy)");
}

}  // namespace

TensorFile read_tensor_file(const std::filesystem::path& path) {
  if (path.string().ends_with(".index.json")) return read_sharded_safetensors(path);
  const auto file = map_file(path);
  const auto bytes = file->bytes();
  if (bytes.empty()) fail(path.string(), ": is empty");
  if (looks_like_zip(bytes)) return read_zip(path);
  if (looks_like_legacy_pth(bytes)) return read_legacy_pth(path);
  if (looks_like_safetensors(bytes)) return read_safetensors(path);
  fail(path.string(), ": is none of the weight formats this toolkit reads: safetensors, ",
       "PyTorch (.pth, .pt, .bin) and NumPy (.npz)");
}

size_t checked_bytes(const std::string& where, DType dtype, const Shape& shape) {
  if (shape.size() > kMostAxes) fail(where, " has ", shape.size(), " axes, at most ", kMostAxes);
  constexpr size_t kLargest = std::numeric_limits<size_t>::max() / 16;  // 8 bytes each and spare
  size_t count = 1;
  bool empty = false;
  for (const size_t length : shape) {
    empty = empty || length == 0;
    if (length != 0 && count > kLargest / length)
      fail(where, " has shape ", to_string(shape), ", which is more than any file can hold");
    count *= length == 0 ? 1 : length;
  }
  return empty ? 0 : byte_count(dtype, count);
}

}  // namespace vit::weights
