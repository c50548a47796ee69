// Data that comes as a few large files.
#include <zlib.h>

#include <array>
#include <fstream>
#include <iterator>

#include "vit/base/error.h"
#include "vit/train/dataset.h"

namespace vit::train {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

/// Plain or gzipped: zlib reads both.
Bytes read_bytes(const fs::path& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) fail(path.string(), ": cannot be opened");
  Bytes bytes;
  std::array<std::uint8_t, 65536> buffer;
  int count = 0;
  while ((count = gzread(file, buffer.data(), buffer.size())) > 0)
    bytes.insert(bytes.end(), buffer.begin(), buffer.begin() + count);
  gzclose(file);
  if (count < 0) fail(path.string(), ": damaged, its compressed data cannot be read");
  return bytes;
}

/// The file under this name, or with .gz behind it; empty if there is none.
fs::path with_or_without_gz(const fs::path& path) {
  if (fs::exists(path)) return path;
  const fs::path zipped = path.string() + ".gz";
  return fs::exists(zipped) ? zipped : fs::path{};
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
    fail(path.string(), ": is no IDX file of unsigned bytes with ", axes, " axes");
  size_t count = 1;
  for (size_t i = 0; i < axes; ++i) {
    file.shape.push_back(big_endian(b, 4 + 4 * i));
    count *= file.shape.back();
  }
  file.start = 4 + 4 * axes;
  if (b.size() != file.start + count)
    fail(path.string(), ": holds ", b.size() - file.start, " numbers, its header says ", count);
  return file;
}

patch::Image from_grey(const std::uint8_t* values, size_t height, size_t width) {
  patch::Image image{width, height, Bytes(width * height * 3)};
  for (size_t i = 0; i < width * height; ++i)
    std::fill_n(image.pixels.begin() + static_cast<std::ptrdiff_t>(3 * i), 3, values[i]);
  return image;
}

std::vector<Sample> read_idx_pair(const fs::path& folder, const std::string& stem) {
  const fs::path image_path = with_or_without_gz(folder / (stem + "-images-idx3-ubyte"));
  const fs::path label_path = with_or_without_gz(folder / (stem + "-labels-idx1-ubyte"));
  if (image_path.empty() != label_path.empty())
    fail((image_path.empty() ? label_path : image_path).string(), ": no ", stem,
         image_path.empty() ? "-images-idx3-ubyte" : "-labels-idx1-ubyte",
         " beside it, expected images and their labels");
  if (image_path.empty()) return {};
  const IdxFile images = read_idx_file(image_path, 3);
  const IdxFile labels = read_idx_file(label_path, 1);
  if (images.shape[0] != labels.shape[0])
    fail(label_path.string(), ": ", labels.shape[0], " labels for ", images.shape[0],
         " images, expected as many");
  const size_t height = images.shape[1], width = images.shape[2];
  std::vector<Sample> samples;
  for (size_t i = 0; i < images.shape[0]; ++i)
    samples.push_back(
        {from_grey(images.bytes.data() + images.start + i * height * width, height, width),
         labels.bytes[labels.start + i]});
  return samples;
}

/// Names where the data is known, numbers where it is not.
std::vector<std::string> idx_labels(const fs::path& folder, size_t classes) {
  static const std::vector<std::string> kFashion{"T-shirt/top", "trouser",   "pullover", "dress",
                                                 "coat",        "sandal",    "shirt",    "sneaker",
                                                 "bag",         "ankle boot"};
  if (classes == kFashion.size() &&
      fs::absolute(folder).string().find("fashion") != std::string::npos)
    return kFashion;
  std::vector<std::string> labels;
  for (size_t i = 0; i < classes; ++i) labels.push_back(std::to_string(i));
  return labels;
}

constexpr size_t kCifarEdge = 32;
constexpr size_t kCifarPixels = kCifarEdge * kCifarEdge;

void read_cifar_file(const fs::path& path, size_t classes, std::vector<Sample>& samples) {
  const Bytes bytes = read_bytes(path);
  constexpr size_t kRecord = 1 + 3 * kCifarPixels;
  if (bytes.empty() || bytes.size() % kRecord != 0)
    fail(path.string(), ": ", bytes.size(), " bytes, expected a multiple of ", kRecord);
  for (size_t at = 0; at < bytes.size(); at += kRecord) {
    if (bytes[at] >= classes)
      fail(path.string(), ": label ", size_t{bytes[at]}, ", expected one of ", classes);
    patch::Image image{kCifarEdge, kCifarEdge, Bytes(3 * kCifarPixels)};
    for (size_t c = 0; c < 3; ++c)
      for (size_t i = 0; i < kCifarPixels; ++i)
        image.pixels[3 * i + c] = bytes[at + 1 + c * kCifarPixels + i];
    samples.push_back({std::move(image), bytes[at]});
  }
}

}  // namespace

bool is_idx_folder(const fs::path& path) {
  return !with_or_without_gz(path / "train-images-idx3-ubyte").empty();
}

Dataset read_idx(const fs::path& path) {
  Dataset dataset;
  dataset.train = read_idx_pair(path, "train");
  dataset.validation = read_idx_pair(path, "t10k");
  if (dataset.train.empty()) fail(path.string(), ": no image in train-images-idx3-ubyte");
  size_t classes = 0;
  for (const Sample& sample : dataset.train) classes = std::max(classes, sample.label + 1);
  for (const Sample& sample : dataset.validation)
    if (sample.label >= classes)
      fail(path.string(), ": test label ", sample.label, " is none of the ", classes,
           " training labels");
  dataset.labels = idx_labels(path, classes);
  return dataset;
}

bool is_cifar_folder(const fs::path& path) {
  return fs::exists(path / "data_batch_1.bin");
}

Dataset read_cifar(const fs::path& path) {
  Dataset dataset;
  std::ifstream names(path / "batches.meta.txt");
  for (std::string line; std::getline(names, line);)
    if (!line.empty()) dataset.labels.push_back(line);
  if (dataset.labels.empty())
    dataset.labels = {"airplane", "automobile", "bird",  "cat",  "deer",
                      "dog",      "frog",       "horse", "ship", "truck"};
  const auto batch = [&](size_t i) { return path / ("data_batch_" + std::to_string(i) + ".bin"); };
  size_t batches = 1;
  for (; fs::exists(batch(batches)); ++batches)
    read_cifar_file(batch(batches), dataset.labels.size(), dataset.train);
  constexpr size_t kUsual = 5;
  for (size_t i = batches + 1; i <= kUsual; ++i)
    if (fs::exists(batch(i)))
      fail(batch(batches).string(), ": not there, but ", batch(i).filename().string(),
           " is; expected the batches without a gap");
  if (fs::exists(path / "test_batch.bin"))
    read_cifar_file(path / "test_batch.bin", dataset.labels.size(), dataset.validation);
  return dataset;
}

}  // namespace vit::train
