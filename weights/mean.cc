#include "weights/mean.h"

#include <utility>

#include "vit/base/error.h"

namespace vit::weights {
namespace {

void check_alike(const Checkpoint& first, const Checkpoint& other) {
  const auto refuse = [&](const auto&... what) {
    fail_at(other.path, "it has no common mean with ", first.path, ": ", what...);
  };
  if (other.labels != first.labels) refuse("its labels differ");
  for (const auto& [name, weight] : first.weights()) {
    const Weight* same = other.find(name);
    if (same == nullptr) refuse("it has no tensor '", name, "'");
    if (same->shape() != weight.shape())
      refuse("tensor '", name, "' has shape ", to_string(same->shape()), ", expected ",
             to_string(weight.shape()));
  }
  if (other.weights().size() != first.weights().size()) refuse("it has more tensors");
  // The same tensors with another number of heads are another model.
  if (!(other.config == first.config)) refuse("its configuration differs");
}

}  // namespace

Checkpoint mean_of(std::vector<Checkpoint> checkpoints) {
  const Checkpoint& first = checkpoints.front();
  for (const Checkpoint& other : checkpoints) check_alike(first, other);
  std::vector<std::pair<std::string, std::vector<float>>> means;
  for (const auto& [name, weight] : first.weights()) {
    std::vector<double> sums(weight.size());
    for (const Checkpoint& checkpoint : checkpoints) {
      const std::vector<float> numbers = checkpoint.at(name).numbers();
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += numbers[i];
    }
    std::vector<float> mean(sums.size());
    for (size_t i = 0; i < sums.size(); ++i)
      mean[i] = static_cast<float>(sums[i] / static_cast<double>(checkpoints.size()));
    means.emplace_back(name, std::move(mean));
  }
  Checkpoint result = std::move(checkpoints.front());
  for (auto& [name, mean] : means) {
    const Shape shape = result.take(name)->shape();
    result.add_numbers(name, shape, std::move(mean));
  }
  return result;
}

}  // namespace vit::weights
