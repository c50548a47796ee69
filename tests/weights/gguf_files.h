/// GGUF files and vit.cpp's, made by hand.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/weights/support.h"

namespace vit::weights::test::ggml {

inline std::string u32(std::uint32_t value) {
  return bytes_of(value);
}
inline std::string u64(std::uint64_t value) {
  return bytes_of(value);
}
inline std::string text(const std::string& value) {
  return u64(value.size()) + value;
}

/// A field of the header: u32 (type 4), f32 (6), bool (7) or string (8).
inline std::string field(const std::string& key, std::uint32_t value) {
  return text(key) + u32(4) + u32(value);
}
inline std::string field(const std::string& key, const std::string& value) {
  return text(key) + u32(8) + text(value);
}

struct Listed {
  std::string name;
  std::vector<std::uint64_t> dims;  ///< fastest first
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
};

inline std::string gguf(const std::vector<std::string>& fields, const std::vector<Listed>& tensors,
                        const std::string& data, std::uint32_t version = 3) {
  std::string file = "GGUF" + u32(version) + u64(tensors.size()) + u64(fields.size());
  for (const auto& entry : fields) file += entry;
  for (const auto& tensor : tensors) {
    file += text(tensor.name) + u32(static_cast<std::uint32_t>(tensor.dims.size()));
    for (const auto length : tensor.dims) file += u64(length);
    file += u32(tensor.type) + u64(tensor.offset);
  }
  file.resize((file.size() + 31) / 32 * 32);
  return file + data;
}

inline std::string gguf(const std::vector<std::string>& fields, const RawMap& tensors) {
  std::vector<Listed> listed;
  std::string data;
  for (const auto& [name, raw] : tensors) {
    listed.push_back({name, {raw.shape.rbegin(), raw.shape.rend()}, 0, data.size()});
    data += bytes_of(raw.values);
    data.resize((data.size() + 31) / 32 * 32);
  }
  return gguf(fields, listed, data);
}

/// As vit.cpp's converter writes it.
inline std::string ggml(const RawMap& tensors, const std::vector<std::string>& labels) {
  std::string file = "lmgg";
  for (const std::uint32_t value : {24u, 2u, 3u, 5u, 8u, 32u, 0u}) file += u32(value);
  file += u32(static_cast<std::uint32_t>(labels.size()));
  for (std::uint32_t i = 0; i < labels.size(); ++i)
    file += u32(i) + u32(static_cast<std::uint32_t>(labels[i].size())) + labels[i];
  for (const auto& [name, raw] : tensors) {
    file += u32(static_cast<std::uint32_t>(raw.shape.size())) +
            u32(static_cast<std::uint32_t>(name.size())) + u32(0);
    for (size_t i = raw.shape.size(); i-- > 0;)
      file += u32(static_cast<std::uint32_t>(raw.shape[i]));
    file += name + bytes_of(raw.values);
  }
  return file;
}

}  // namespace vit::weights::test::ggml
