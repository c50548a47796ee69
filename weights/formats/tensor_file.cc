#include "weights/formats/tensor_file.h"

#include <limits>
#include <string_view>
#include <utility>

#include "vit/base/error.h"
#include "weights/formats/gguf.h"
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
  fail_at(path.string(), "is a ZIP archive, but neither of PyTorch (no data.pkl) nor of NumPy (no ",
          ".npy)");
}

/// Names what the file is, where its first bytes tell, and what to do.
[[noreturn]] void refuse(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  const std::string where = path.string();
  if (path.extension() == ".onnx")
    fail_at(where, "ONNX files are not read, because exports rename and fold their weights; open ",
            "the checkpoint it was exported from (safetensors, .pth, .npz or GGUF)");
  if (text.starts_with("version https://git-lfs"))
    fail_at(where, "is a Git LFS pointer and not the weights; fetch them with 'git lfs pull'");
  if (text.starts_with("\x89HDF"))
    fail_at(where, "is a Keras or TensorFlow file (HDF5), which is not read; look for the same ",
            "model as safetensors");
  if (text.starts_with("<"))
    fail_at(where, "is a web page and not the weights; the download went wrong");
  fail_at(where, "is none of the weight formats this toolkit reads: safetensors, PyTorch (.pth, ",
          ".pt, .bin), NumPy (.npz), GGUF and vit.cpp's ggml");
}

}  // namespace

TensorFile read_tensor_file(const std::filesystem::path& path) {
  if (path.string().ends_with(".index.json")) return read_sharded_safetensors(path);
  const auto file = map_file(path);
  const auto bytes = file->bytes();
  if (bytes.empty()) fail_at(path.string(), "is empty");
  if (path.extension() == ".safetensors" || looks_like_safetensors(bytes))
    return read_safetensors(path);
  if (looks_like_zip(bytes)) return read_zip(path);
  if (looks_like_legacy_pth(bytes)) return read_legacy_pth(path);
  if (looks_like_gguf(bytes)) return read_gguf(path);
  if (looks_like_ggml(bytes)) return read_ggml(path);
  refuse(path, bytes);
}

size_t checked_bytes(const Subject& tensor, DType dtype, const Shape& shape) {
  if (shape.size() > kMostAxes) fail_at(tensor, "has ", shape.size(), " axes, at most ", kMostAxes);
  constexpr size_t kLargest = std::numeric_limits<size_t>::max() / 16;  // 8 bytes each and spare
  size_t count = 1;
  bool empty = false;
  for (const size_t length : shape) {
    empty = empty || length == 0;
    if (length != 0 && count > kLargest / length)
      fail_at(tensor, "has shape ", to_string(shape), ", which is more than any file can hold");
    count *= length == 0 ? 1 : length;
  }
  return empty ? 0 : byte_count(dtype, count);
}

}  // namespace vit::weights
