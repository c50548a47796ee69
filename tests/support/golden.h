/// Reads the tensors of a safetensors file as floats: just enough for reference results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace vit::test {

struct GoldenTensor {
  std::vector<std::size_t> shape;
  std::vector<float> values;
};

inline std::vector<char> read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " + path.string());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline nlohmann::json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path.string());
  return nlohmann::json::parse(file);
}

template <typename T>
std::vector<float> read_numbers(const char* bytes, std::size_t size) {
  std::vector<T> numbers(size / sizeof(T));
  std::memcpy(numbers.data(), bytes, size);
  return {numbers.begin(), numbers.end()};
}

/// The file: 8 bytes little-endian header length, JSON header, tensor bytes.
inline std::map<std::string, GoldenTensor> read_golden(const std::filesystem::path& path) {
  const std::vector<char> bytes = read_bytes(path);
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, bytes.data(), sizeof header_size);
  const char* header = bytes.data() + sizeof header_size;
  const char* data = header + header_size;
  const auto fields = nlohmann::json::parse(header, data);

  std::map<std::string, GoldenTensor> tensors;
  for (const auto& [name, field] : fields.items()) {
    if (name == "__metadata__") continue;
    const auto begin = field.at("data_offsets").at(0).get<std::size_t>();
    const auto end = field.at("data_offsets").at(1).get<std::size_t>();
    GoldenTensor tensor;
    tensor.shape = field.at("shape").get<std::vector<std::size_t>>();
    const auto type = field.at("dtype").get<std::string>();
    if (type == "F32")
      tensor.values = read_numbers<float>(data + begin, end - begin);
    else if (type == "F64")
      tensor.values = read_numbers<double>(data + begin, end - begin);
    else if (type == "I64")
      tensor.values = read_numbers<std::int64_t>(data + begin, end - begin);
    else
      throw std::runtime_error(name + " is " + type);
    tensors.emplace(name, std::move(tensor));
  }
  return tensors;
}

}  // namespace vit::test
