#include "vit/data/dataset.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>

#include "patch/image/pixel_budget.h"
#include "patch/resample.h"
#include "vit/base/error.h"
#include "vit/base/hash.h"
#include "vit/base/random.h"
#include "vit/data/image_files.h"

namespace vit::data {
namespace {

namespace fs = std::filesystem;

struct File {
  std::string path;
  size_t label = 0;
};

std::vector<std::string> class_names(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& path : folders_in(folder)) names.push_back(path.filename().string());
  return names;
}

/// At most this many images of a class folder; 0: all.
std::vector<std::string> images_in(const fs::path& folder, size_t most, SkippedFiles& skipped) {
  std::vector<std::string> paths;
  visit_images(
      folder,
      [&](const std::string& path) {
        paths.push_back(path);
        return paths.size() != most;
      },
      skipped);
  return paths;
}

std::vector<File> list_files(const fs::path& folder, size_t most_per_class, Dataset& dataset) {
  std::vector<File> files;
  for (size_t label = 0; label < dataset.labels.size(); ++label) {
    const fs::path class_folder = folder / dataset.labels[label];
    auto paths = images_in(class_folder, most_per_class, dataset.other_files);
    if (paths.empty())
      fail_at(class_folder.string(), "no image in this class folder, expected files that end in ",
              kImageEndings, "; remove the folder or fill it");
    for (auto& path : paths) files.push_back({std::move(path), label});
  }
  return files;
}

patch::Image reduced(patch::Image image, size_t short_edge) {
  const size_t edge = std::min(image.width, image.height);
  if (short_edge == 0 || edge <= short_edge) return image;
  const double scale = static_cast<double>(short_edge) / static_cast<double>(edge);
  const auto scaled = [&](size_t n) {
    return std::max<size_t>(1, static_cast<size_t>(std::lround(static_cast<double>(n) * scale)));
  };
  return patch::resize(image, scaled(image.width), scaled(image.height), Interpolation::kBox);
}

/// In the order of the files, whichever worker reads them.
std::vector<Sample> read_files(const std::vector<File>& files, const DatasetOptions& options,
                               Dataset& dataset) {
  std::vector<std::optional<patch::Image>> images(files.size());
  std::vector<std::string> errors(files.size());
  std::atomic<size_t> damaged = 0;
  patch::PixelBudget budget(options.max_pixels);
  patch::DecodeOptions decoding;
  decoding.max_pixels = options.max_pixels;
  decoding.budget = &budget;
  parallel_for(options.pool, files.size(), [&](size_t i, size_t) {
    try {
      patch::Image image = patch::read_image(files[i].path, decoding);
      if (!image.damage.empty()) ++damaged;
      images[i] = reduced(std::move(image), options.short_edge);
      images[i]->lease.reset();  // what stays is not what the limit is for
    } catch (const Error& error) {
      errors[i] = error.what();
    }
  });
  std::vector<Sample> samples;
  for (size_t i = 0; i < files.size(); ++i) {
    if (images[i])
      samples.push_back({std::move(*images[i]), files[i].label, files[i].path});
    else
      dataset.skipped.push_back(std::move(errors[i]));
  }
  dataset.damaged += damaged;
  return samples;
}

/// The last share of every class in a random order that depends on the seed alone.
void split(const DatasetOptions& options, Dataset& dataset) {
  std::vector<size_t> order(dataset.train.size());
  std::iota(order.begin(), order.end(), size_t{0});
  Random random({options.seed, 0x5eed});
  shuffle(random, order);
  std::vector<size_t> left(dataset.labels.size());
  for (const Sample& sample : dataset.train) ++left[sample.label];
  for (size_t& count : left)
    count = std::max<size_t>(count > 1 ? 1 : 0, static_cast<size_t>(static_cast<double>(count) *
                                                                    options.validation_share));
  std::vector<bool> chosen(dataset.train.size());
  for (const size_t i : order) {
    size_t& wanted = left[dataset.train[i].label];
    if (wanted == 0) continue;
    --wanted;
    chosen[i] = true;
  }
  std::vector<Sample> kept;
  for (size_t i = 0; i < chosen.size(); ++i)
    (chosen[i] ? dataset.validation : kept).push_back(std::move(dataset.train[i]));
  dataset.train = std::move(kept);
  dataset.split_by_us = true;
}

fs::path first_folder(const fs::path& path, std::initializer_list<const char*> names) {
  for (const auto* name : names)
    if (fs::is_directory(path / name)) return path / name;
  return {};
}

std::string first_difference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::string> different;
  std::ranges::set_symmetric_difference(a, b, std::back_inserter(different));
  return different.empty() ? "" : different.front();
}

/// Every class has a sample.
void check_classes(const std::vector<Sample>& samples, const Dataset& dataset,
                   const std::string& where, const char* part) {
  std::vector<size_t> counts(dataset.labels.size());
  for (const Sample& sample : samples) ++counts.at(sample.label);
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i] == 0)
      fail_at(where, "class '", dataset.labels[i], "' has no readable ", part, " image",
              dataset.skipped.empty() ? "" : "; the first that failed: ",
              dataset.skipped.empty() ? "" : dataset.skipped.front());
}

bool has_image(const fs::path& folder) {
  SkippedFiles ignored;
  return !images_in(folder, 1, ignored).empty();
}

Dataset read_folder(const fs::path& path, const DatasetOptions& options) {
  fs::path train = first_folder(path, {"train", "training"});
  // "train" may also be a class: pictures of trains.
  if (!train.empty() && folders_in(train).empty() && has_image(train)) train.clear();
  const fs::path validation = first_folder(path, {"val", "valid", "validation", "test"});
  const fs::path root = train.empty() ? path : train;
  Dataset dataset;
  dataset.labels = class_names(root);
  if (dataset.labels.empty())
    fail_at(root.string(), "no class folders, expected one folder of images per class");
  if (!train.empty() && !validation.empty() && class_names(validation) != dataset.labels)
    fail_at(validation.string(), "its class folders are not those of ", train.string(),
            ", expected the same names in both (only one has '",
            first_difference(class_names(validation), dataset.labels), "')");
  dataset.train = read_files(list_files(root, options.most_per_class, dataset), options, dataset);
  if (!train.empty() && !validation.empty()) {
    dataset.validation = read_files(list_files(validation, 0, dataset), options, dataset);
    check_classes(dataset.validation, dataset, validation.string(), "validation");
  }
  return dataset;
}

/// The first `most` of every class.
void keep_first(size_t most, size_t classes, std::vector<Sample>& samples) {
  std::vector<size_t> seen(classes);
  std::erase_if(samples, [&](const Sample& sample) { return ++seen.at(sample.label) > most; });
}

void check(const Dataset& dataset, const std::string& where) {
  if (dataset.labels.size() < 2)
    fail_at(where, dataset.labels.size(), " class, expected at least two to tell apart");
  check_classes(dataset.train, dataset, where, "training");
}

}  // namespace

std::uint64_t fingerprint(const Dataset& dataset) {
  Hash hash;
  for (const std::string& label : dataset.labels) hash.add(label);
  for (const auto* part : {&dataset.train, &dataset.validation}) {
    hash.add(part->size());
    for (const Sample& sample : *part) {
      hash.add(sample.label);
      hash.add(sample.image.width);
      hash.add_row(sample.image.pixels.data(), sample.image.pixels.size());
    }
  }
  return hash.value();
}

Dataset read_dataset(const fs::path& path, const DatasetOptions& options) {
  if (!fs::exists(path)) fail_at(path.string(), "no such file or folder");
  if (!fs::is_directory(path))
    fail_at(path.string(), "is a file, expected a folder of class folders, IDX or CIFAR files");
  Dataset dataset = is_idx_folder(path)     ? read_idx(path)
                    : is_cifar_folder(path) ? read_cifar(path)
                                            : read_folder(path, options);
  if (options.most_per_class != 0)
    keep_first(options.most_per_class, dataset.labels.size(), dataset.train);
  check(dataset, path.string());
  if (dataset.validation.empty()) split(options, dataset);
  if (dataset.validation.empty())
    fail_at(path.string(), "too few images to keep any for validation, expected two per class");
  return dataset;
}

void measure_statistics(const Dataset& dataset, Recipe& recipe) {
  // A few thousand images give three digits.
  const size_t stride = std::max<size_t>(1, dataset.train.size() / 5000);
  std::array<double, 3> sum{}, squares{};
  double count = 0.0;
  for (size_t s = 0; s < dataset.train.size(); s += stride) {
    const auto& pixels = dataset.train[s].image.pixels;
    for (size_t i = 0; i < pixels.size(); ++i) {
      const double value = pixels[i] / 255.0;
      sum[i % 3] += value;
      squares[i % 3] += value * value;
    }
    count += static_cast<double>(pixels.size()) / 3.0;
  }
  const auto rounded = [](double x) { return static_cast<float>(std::round(x * 1000.0) / 1000.0); };
  for (size_t c = 0; c < 3; ++c) {
    const double mean = sum[c] / count;
    recipe.mean[c] = rounded(mean);
    recipe.std[c] =
        std::max(0.01f, rounded(std::sqrt(std::max(0.0, squares[c] / count - mean * mean))));
  }
}

}  // namespace vit::data
