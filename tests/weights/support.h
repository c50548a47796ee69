/// Weight files made by hand, good and broken ones.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/deflate.h"
#include "tests/support/folder.h"
#include "vit/base/error.h"
#include "weights/tensor.h"

namespace vit::weights::test {

using vit::test::Folder;

/// The message of the Error that `action` throws, without the folder; empty if it throws none.
template <typename Action>
std::string error_of(const Folder& folder, const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    std::string message = error.what();
    const std::string path = folder.path() + "/";
    for (size_t at; (at = message.find(path)) != std::string::npos;) message.erase(at, path.size());
    return message;
  }
  return "";
}

/// Processor time, since the machine may have other work; sanitizers are slow.
class Stopwatch {
 public:
  double seconds() const { return static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC; }
#ifdef __SANITIZE_ADDRESS__
  static constexpr double kLimit = 20.0;
#else
  static constexpr double kLimit = 1.0;
#endif

 private:
  std::clock_t start_ = std::clock();
};

template <typename T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// A raw tensor to be written to some file.
struct Raw {
  Shape shape;
  std::vector<float> values;
};
using RawMap = std::map<std::string, Raw>;

/// Numbers that tell where they stand: a different run for each tensor.
inline Raw numbered(Shape shape, float first = 0.0f) {
  Raw raw{shape, std::vector<float>(element_count(shape))};
  for (size_t i = 0; i < raw.values.size(); ++i)
    raw.values[i] = first + static_cast<float>(i % 4096) / 4096.0f;
  return raw;
}

inline std::string safetensors(const std::string& header, const std::string& data) {
  return bytes_of(std::uint64_t{header.size()}) + header + data;
}

inline std::string safetensors(const RawMap& tensors) {
  nlohmann::json header = nlohmann::json::object();
  std::string data;
  for (const auto& [name, raw] : tensors) {
    const size_t begin = data.size();
    data += bytes_of(raw.values);
    header[name] = {{"dtype", "F32"}, {"shape", raw.shape}, {"data_offsets", {begin, data.size()}}};
  }
  return safetensors(header.dump(), data);
}

struct Zipped {
  std::string name;
  std::string content;
  bool deflate = false;
};

/// `zip64` writes every size and offset in the 64-bit form.
inline std::string zip(const std::vector<Zipped>& entries, bool zip64 = false) {
  std::string file, directory;
  const auto u16 = [](size_t value) { return bytes_of(static_cast<std::uint16_t>(value)); };
  const auto u32 = [](size_t value) { return bytes_of(static_cast<std::uint32_t>(value)); };
  const auto u64 = [](size_t value) { return bytes_of(static_cast<std::uint64_t>(value)); };
  for (const auto& entry : entries) {
    const std::string packed = entry.deflate ? vit::test::deflated(entry.content) : entry.content;
    const size_t crc =
        crc32_z(0, reinterpret_cast<const Bytef*>(entry.content.data()), entry.content.size());
    const size_t offset = file.size();
    const std::string common = u16(entry.deflate ? 8 : 0) + u32(0) + u32(crc);
    std::string extra;
    if (zip64)
      extra = u16(1) + u16(24) + u64(entry.content.size()) + u64(packed.size()) + u64(offset);
    const size_t full = 0xffffffff;
    file += "PK\x03\x04" + u16(45) + u16(0) + common + u32(packed.size()) +
            u32(entry.content.size()) + u16(entry.name.size()) + u16(0) + entry.name + packed;
    directory += "PK\x01\x02" + u16(45) + u16(45) + u16(0) + common +
                 u32(zip64 ? full : packed.size()) + u32(zip64 ? full : entry.content.size()) +
                 u16(entry.name.size()) + u16(extra.size()) + u16(0) + u16(0) + u16(0) + u32(0) +
                 u32(zip64 ? full : offset) + entry.name + extra;
  }
  const size_t start = file.size(), count = entries.size();
  file += directory;
  if (zip64) {
    const size_t end64 = file.size();
    file += "PK\x06\x06" + u64(44) + u16(45) + u16(45) + u32(0) + u32(0) + u64(count) + u64(count) +
            u64(directory.size()) + u64(start);
    file += "PK\x06\x07" + u32(0) + u64(end64) + u32(1);
  }
  return file + "PK\x05\x06" + u16(0) + u16(0) + u16(count) + u16(count) + u32(directory.size()) +
         u32(start) + u16(0);
}

inline std::string npy(const std::string& descr, const std::string& fortran,
                       const std::string& shape, const std::string& data) {
  const std::string header =
      "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\x01\x00", 8) + bytes_of(static_cast<std::uint16_t>(header.size())) +
         header + data;
}

inline std::string npz(const RawMap& arrays, bool deflate = false) {
  std::vector<Zipped> entries;
  for (const auto& [name, raw] : arrays) {
    std::string shape = "(";
    for (const size_t length : raw.shape) shape += std::to_string(length) + ", ";
    entries.push_back(
        {name + ".npy", npy("<f4", "False", shape + ")", bytes_of(raw.values)), deflate});
  }
  return zip(entries);
}

/// Python's pickle, as far as torch.save uses it.
namespace pickle {

inline std::string text(const std::string& value) {
  return std::string("X") + bytes_of(static_cast<std::uint32_t>(value.size())) + value;
}
inline std::string number(size_t value) {
  return std::string("\x8a\x08") + bytes_of(static_cast<std::uint64_t>(value));
}
inline std::string global(const std::string& module, const std::string& name) {
  return std::string("c") + module + "\n" + name + "\n";
}
inline std::string tuple(const std::vector<std::string>& items) {
  std::string result = "(";
  for (const auto& item : items) result += item;
  return result + "t";
}
inline std::string numbers(const std::vector<size_t>& values) {
  std::vector<std::string> items;
  for (const size_t value : values) items.push_back(number(value));
  return tuple(items);
}
inline std::string dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string result = "}(";
  for (const auto& [key, value] : items) result += text(key) + value;
  return result + "u";
}
struct View {
  std::string storage;
  size_t count = 0;
  size_t offset = 0;
  std::vector<size_t> shape;
  std::vector<size_t> strides;
  std::string type = "FloatStorage";
};
inline std::string tensor(const View& view, bool legacy = false) {
  std::vector<std::string> id{text("storage"), global("torch", view.type), text(view.storage),
                              text("cpu"), number(view.count)};
  if (legacy) id.push_back("N");
  return global("torch._utils", "_rebuild_tensor_v2") +
         tuple({tuple(id) + "Q", number(view.offset), numbers(view.shape), numbers(view.strides),
                "\x89", global("collections", "OrderedDict") + ")R"}) +
         "R";
}
inline std::string whole(const std::string& content) {
  return std::string("\x80\x02") + content + ".";
}

}  // namespace pickle

/// A state dictionary as torch.save writes it.
inline std::string pth(const RawMap& tensors, const std::string& wrapper = "") {
  std::vector<std::pair<std::string, std::string>> items;
  std::vector<Zipped> entries{{"archive/data.pkl", "", false}};
  for (const auto& [name, raw] : tensors) {
    const std::string key = std::to_string(items.size());
    items.emplace_back(name, pickle::tensor({key, raw.values.size(), 0, raw.shape,
                                             contiguous_strides(raw.shape)}));
    entries.push_back({"archive/data/" + key, bytes_of(raw.values), false});
  }
  std::string content = pickle::dict(items);
  if (!wrapper.empty()) content = pickle::dict({{"epoch", "K\x07"}, {wrapper, content}});
  entries.front().content = pickle::whole(content);
  return zip(entries);
}

/// As torch.save wrote before 1.6: the pickle `content` and its one storage, "0".
inline std::string legacy_pth(const std::string& content, const std::vector<float>& values) {
  const std::string magic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);
  return magic + pickle::whole("M\xe9\x03") +
         pickle::whole(pickle::dict({{"little_endian", "\x88"}})) + pickle::whole(content) +
         pickle::whole("](" + pickle::text("0") + "e") + bytes_of(std::uint64_t{values.size()}) +
         bytes_of(values);
}

}  // namespace vit::weights::test
