#include "tools/train/data_checks.h"

#include <algorithm>
#include <unordered_map>

#include "tools/output/unicode.h"
#include "vit/base/hash.h"

namespace vit::tools {
namespace {

using data::Dataset;
using data::Sample;

constexpr size_t kUneven = 5;  // times as many images as the rarest class has
constexpr size_t kShown = 3;

std::string uneven_classes(const Dataset& dataset, bool balanced) {
  std::vector<size_t> counts(dataset.labels.size());
  for (const Sample& sample : dataset.train) ++counts[sample.label];
  const auto [least, most] = std::ranges::minmax_element(counts);
  if (*most < kUneven * *least) return {};
  const auto named = [&](auto at) {
    return "'" + printable(dataset.labels[static_cast<size_t>(at - counts.begin())]) + "' has " +
           std::to_string(*at);
  };
  return "uneven classes: " + named(least) + " training " + (*least == 1 ? "image" : "images") +
         ", " + named(most) +
         (balanced ? "" : "; rare classes are often missed, --balance makes all count the same");
}

std::uint64_t hash_of(const Sample& sample) {
  Hash hash;
  hash.add(sample.image.width);
  hash.add(sample.image.height);
  hash.add_row(sample.image.pixels.data(), sample.image.pixels.size());
  return hash.value();
}

std::string name_of(const Sample& sample) {
  return sample.file.empty() ? std::string("an image") : printable(sample.file);
}

class Duplicates {
 public:
  explicit Duplicates(const Dataset& dataset) : dataset_(dataset) {
    for (const Sample& sample : dataset.train) add(sample, false);
    for (const Sample& sample : dataset.validation) add(sample, true);
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> lines = contradictions_;
    if (contradicting_ > kShown)
      lines.push_back(std::to_string(contradicting_) +
                      " images are in two classes; remove them from the wrong one");
    if (shared_ != 0)
      lines.push_back(std::to_string(shared_) + " validation " +
                      (shared_ == 1 ? "image is" : "images are") +
                      " among the training images, such as " + shared_name_ +
                      ": the validation accuracy is too high");
    return lines;
  }

 private:
  struct Seen {
    const Sample* sample;
    bool in_training;
  };

  void add(const Sample& sample, bool validation) {
    const auto [at, is_new] = seen_.try_emplace(hash_of(sample), Seen{&sample, !validation});
    if (is_new) return;
    const Sample& first = *at->second.sample;
    if (first.label != sample.label) {
      if (++contradicting_ <= kShown)
        contradictions_.push_back("the same image in two classes: " + name_of(first) + " in '" +
                                  printable(dataset_.labels[first.label]) + "', " +
                                  name_of(sample) + " in '" +
                                  printable(dataset_.labels[sample.label]) + "'");
    } else if (validation && at->second.in_training) {
      if (++shared_ == 1) shared_name_ = name_of(sample);
    }
  }

  const Dataset& dataset_;
  std::unordered_map<std::uint64_t, Seen> seen_;
  std::vector<std::string> contradictions_;
  size_t contradicting_ = 0;
  size_t shared_ = 0;
  std::string shared_name_;
};

}  // namespace

std::vector<std::string> data_warnings(const Dataset& dataset, bool balanced) {
  std::vector<std::string> lines = Duplicates(dataset).lines();
  if (std::string uneven = uneven_classes(dataset, balanced); !uneven.empty())
    lines.push_back(std::move(uneven));
  return lines;
}

}  // namespace vit::tools
