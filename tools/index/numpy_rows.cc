#include "tools/index/numpy_rows.h"

#include <cstring>
#include <span>
#include <unordered_set>

#include "tools/rows/header.h"
#include "tools/rows/numpy_file.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

/// Reads the rows of an array one after the other. NumpyFile has checked it.
class NumberReader {
 public:
  NumberReader(const fs::path& path, size_t width) : file_(path), width_(width) {
    // Magic (6 bytes), version (2), length of the text that follows (2, format 1.0).
    const auto opening = file_.read(0, 10);
    if (opening.size() < 10) fail_at(path.string(), "is cut short, expected a NumPy array");
    std::uint16_t length = 0;
    std::memcpy(&length, opening.data() + 8, sizeof length);
    offset_ = 10 + size_t{length};
  }

  std::vector<float> next() {
    std::vector<float> numbers(width_);
    const auto bytes = std::as_writable_bytes(std::span(numbers));
    if (file_.read(offset_, bytes) != bytes.size())
      fail_at(file_.path(), "is cut short, it has fewer rows than its list");
    offset_ += bytes.size();
    return numbers;
  }

 private:
  ReadableFile file_;
  size_t width_;
  std::uint64_t offset_ = 0;
};

/// What `vit index` would have written for the same vectors.
Json index_description(const Json& header) {
  Json description = header;
  description["command"] = "index";
  description.erase("format");
  Json& options = description["options"];
  options.erase("shape");
  options.erase("normalize");
  return description;
}

}  // namespace

UpdateSource read_numpy_rows(const fs::path& npy) {
  std::error_code ignored;
  if (!fs::exists(npy, ignored)) fail_at(npy.string(), "no such file");
  if (!fs::exists(sidecar_of(npy), ignored))
    fail_at(npy.string(), "has no list of its rows, expected it in ", sidecar_of(npy).string(),
            "; make both with vit embed -o ", npy.filename().string());
  Results results(npy, ResultKind::kNumpy, {}, {.read_only = true});
  const auto stored = results.read_header();
  if (!stored) fail_at(sidecar_of(npy).string(), "has no header; make it again with vit embed");
  const Json header = parse_header(npy, results, *stored);
  const RowShape shape = shape_of(npy, header);
  if (shape.features.size() != 1)
    fail_at(npy.string(), "has ", shape.features.empty() ? "no vector" : "several vectors",
            " for an image, expected one; make it with vit embed --features cls or mean");
  UpdateSource source{.description = index_description(header), .width = shape.features.front()};
  NumpyFile list(npy, shape, true);
  list.read_header();
  NumberReader numbers(npy, source.width);
  std::unordered_set<std::string> seen;
  while (auto row = list.next()) {
    IndexItem item{.vector = numbers.next()};
    item.input.number = row->number;
    item.input.path = fs::absolute(row->path).lexically_normal().string();
    item.input.file = item.input.path;
    if (!seen.insert(item.input.path).second) continue;
    if (row->failed || !index::normalize(item.vector)) {
      item.vector.clear();
      item.reason = item.input.path + ": has no features in " + npy.string();
    }
    source.items.push_back(std::move(item));
  }
  return source;
}

}  // namespace vit::tools
