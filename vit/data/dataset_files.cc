// Data that comes as a few large files.
#include <zlib.h>

#include <array>
#include <fstream>
#include <iterator>
#include <set>

#include "vit/base/error.h"
#include "vit/data/dataset.h"

namespace vit::data {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

/// Plain or gzipped: zlib reads both.
Bytes read_bytes(const fs::path& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) fail_at(path.string(), "cannot be opened");
  Bytes bytes;
  std::array<std::uint8_t, 65536> buffer;
  int count = 0;
  while ((count = gzread(file, buffer.data(), buffer.size())) > 0)
    bytes.insert(bytes.end(), buffer.begin(), buffer.begin() + count);
  gzclose(file);
  if (count < 0) fail_at(path.string(), "damaged, its compressed data cannot be read");
  return bytes;
}

/// "train-images-idx3-ubyte", with a point in place of the second hyphen as some sites have it, and
/// with or without .gz; empty if there is none.
fs::path idx_file(const fs::path& folder, const std::string& stem, const std::string& kind) {
  for (const char* hyphen : {"-", "."})
    for (const char* ending : {"", ".gz"}) {
      const fs::path path = folder / (stem + hyphen + kind + ending);
      if (fs::exists(path)) return path;
    }
  return {};
}

size_t big_endian(const Bytes& bytes, size_t at) {
  return size_t{bytes[at]} << 24 | size_t{bytes[at + 1]} << 16 | size_t{bytes[at + 2]} << 8 |
         size_t{bytes[at + 3]};
}

struct IdxFile {
  std::vector<size_t> shape;
  Bytes bytes;
  size_t start = 0;
};

/// "\0\0\x08" (unsigned bytes), the number of axes, each axis in four bytes, the numbers.
IdxFile read_idx_file(const fs::path& path, size_t axes) {
  IdxFile file;
  file.bytes = read_bytes(path);
  const Bytes& b = file.bytes;
  if (b.size() < 4 || b[0] != 0 || b[1] != 0 || b[2] != 8 || b[3] != axes ||
      b.size() < 4 + 4 * axes)
    fail_at(path.string(), "is no IDX file of unsigned bytes with ", axes, " axes");
  size_t count = 1;
  for (size_t i = 0; i < axes; ++i) {
    file.shape.push_back(big_endian(b, 4 + 4 * i));
    count *= file.shape.back();
  }
  file.start = 4 + 4 * axes;
  if (b.size() != file.start + count)
    fail_at(path.string(), "holds ", b.size() - file.start, " numbers, its header says ", count);
  return file;
}

patch::Image from_grey(const std::uint8_t* values, size_t height, size_t width) {
  patch::Image image{width, height, Bytes(width * height * 3)};
  for (size_t i = 0; i < width * height; ++i)
    std::fill_n(image.pixels.begin() + static_cast<std::ptrdiff_t>(3 * i), 3, values[i]);
  return image;
}

std::vector<Sample> read_idx_pair(const fs::path& folder, const std::string& stem) {
  const fs::path image_path = idx_file(folder, stem + "-images", "idx3-ubyte");
  const fs::path label_path = idx_file(folder, stem + "-labels", "idx1-ubyte");
  if (image_path.empty() != label_path.empty())
    fail_at((image_path.empty() ? label_path : image_path).string(), "no ", stem,
            image_path.empty() ? "-images-idx3-ubyte" : "-labels-idx1-ubyte",
            " beside it, expected images and their labels");
  if (image_path.empty()) return {};
  const IdxFile images = read_idx_file(image_path, 3);
  const IdxFile labels = read_idx_file(label_path, 1);
  if (images.shape[0] != labels.shape[0])
    fail_at(label_path.string(), labels.shape[0], " labels for ", images.shape[0],
            " images, expected as many");
  const size_t height = images.shape[1], width = images.shape[2];
  std::vector<Sample> samples;
  for (size_t i = 0; i < images.shape[0]; ++i)
    samples.push_back(
        {from_grey(images.bytes.data() + images.start + i * height * width, height, width),
         labels.bytes[labels.start + i]});
  return samples;
}

/// Names where the data is known, its numbers where it is not.
std::vector<std::string> idx_labels(const fs::path& folder, const std::set<size_t>& numbers) {
  static const std::vector<std::string> kFashion{"T-shirt/top", "trouser",   "pullover", "dress",
                                                 "coat",        "sandal",    "shirt",    "sneaker",
                                                 "bag",         "ankle boot"};
  if (numbers.size() == kFashion.size() && *numbers.rbegin() == kFashion.size() - 1 &&
      fs::absolute(folder).string().find("fashion") != std::string::npos)
    return kFashion;
  std::vector<std::string> labels;
  for (const size_t number : numbers) labels.push_back(std::to_string(number));
  return labels;
}

constexpr size_t kCifarEdge = 32;
constexpr size_t kCifarPixels = kCifarEdge * kCifarEdge;

/// How the records of a file begin, and what their last label byte means.
struct CifarKind {
  size_t label_bytes;
  size_t classes;
};

void read_cifar_file(const fs::path& path, const CifarKind& kind, std::vector<Sample>& samples) {
  const Bytes bytes = read_bytes(path);
  const size_t record = kind.label_bytes + 3 * kCifarPixels;
  if (bytes.empty() || bytes.size() % record != 0)
    fail_at(path.string(), bytes.size(), " bytes, expected a multiple of ", record);
  for (size_t at = 0; at < bytes.size(); at += record) {
    const size_t label = bytes[at + kind.label_bytes - 1];
    if (label >= kind.classes)
      fail_at(path.string(), "label ", label, ", expected one of ", kind.classes);
    patch::Image image{kCifarEdge, kCifarEdge, Bytes(3 * kCifarPixels)};
    for (size_t c = 0; c < 3; ++c)
      for (size_t i = 0; i < kCifarPixels; ++i)
        image.pixels[3 * i + c] = bytes[at + kind.label_bytes + c * kCifarPixels + i];
    samples.push_back({std::move(image), label});
  }
}

std::vector<std::string> read_lines(const fs::path& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

/// Records of a coarse and a fine label.
Dataset read_cifar_100(const fs::path& path) {
  Dataset dataset;
  dataset.labels = read_lines(path / "fine_label_names.txt");
  if (dataset.labels.empty())
    for (size_t i = 0; i < 100; ++i) dataset.labels.push_back(std::to_string(i));
  const CifarKind kind{2, dataset.labels.size()};
  read_cifar_file(path / "train.bin", kind, dataset.train);
  if (fs::exists(path / "test.bin")) read_cifar_file(path / "test.bin", kind, dataset.validation);
  return dataset;
}

Dataset read_cifar_10(const fs::path& path) {
  Dataset dataset;
  dataset.labels = read_lines(path / "batches.meta.txt");
  if (dataset.labels.empty())
    dataset.labels = {"airplane", "automobile", "bird",  "cat",  "deer",
                      "dog",      "frog",       "horse", "ship", "truck"};
  const CifarKind kind{1, dataset.labels.size()};
  const auto batch = [&](size_t i) { return path / ("data_batch_" + std::to_string(i) + ".bin"); };
  size_t batches = 1;
  for (; fs::exists(batch(batches)); ++batches)
    read_cifar_file(batch(batches), kind, dataset.train);
  constexpr size_t kUsual = 5;
  for (size_t i = batches + 1; i <= kUsual; ++i)
    if (fs::exists(batch(i)))
      fail_at(batch(batches).string(), "not there, but ", batch(i).filename().string(),
              " is; expected the batches without a gap");
  if (fs::exists(path / "test_batch.bin"))
    read_cifar_file(path / "test_batch.bin", kind, dataset.validation);
  return dataset;
}

}  // namespace

bool is_idx_folder(const fs::path& path) {
  return !idx_file(path, "train-images", "idx3-ubyte").empty();
}

Dataset read_idx(const fs::path& path) {
  Dataset dataset;
  dataset.train = read_idx_pair(path, "train");
  dataset.validation = read_idx_pair(path, "t10k");
  if (dataset.train.empty()) fail_at(path.string(), "no image in train-images-idx3-ubyte");
  std::set<size_t> numbers;  // EMNIST's letters are 1 to 26
  for (const Sample& sample : dataset.train) numbers.insert(sample.label);
  for (auto* part : {&dataset.train, &dataset.validation})
    for (Sample& sample : *part) {
      const auto found = numbers.find(sample.label);
      if (found == numbers.end())
        fail_at(path.string(), "test label ", sample.label, " is none of the ", numbers.size(),
                " training labels");
      sample.label = static_cast<size_t>(std::distance(numbers.begin(), found));
    }
  dataset.labels = idx_labels(path, numbers);
  return dataset;
}

bool is_cifar_folder(const fs::path& path) {
  return fs::exists(path / "data_batch_1.bin") || fs::exists(path / "train.bin");
}

Dataset read_cifar(const fs::path& path) {
  return fs::exists(path / "train.bin") ? read_cifar_100(path) : read_cifar_10(path);
}

}  // namespace vit::data
