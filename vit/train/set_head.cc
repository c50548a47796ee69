#include "vit/train/set_head.h"

#include <algorithm>
#include <cassert>
#include <set>
#include <span>

#include "weights/tensor_list.h"

namespace vit::train {
namespace {

bool is_classifier(const weights::TensorSpec& spec) {
  return spec.part == weights::TensorPart::kClassifier;
}

/// The numbers of one of the classifier's tensors: its weight or its bias.
std::span<const float> numbers_of(const Logistic& logistic, const weights::TensorSpec& spec) {
  if (spec.role == weights::TensorRole::kBias) return logistic.bias;
  return {logistic.weight.data(), logistic.weight.size()};
}

}  // namespace

void set_head(const Logistic& logistic, gradient::Network<float>& network) {
  for (const gradient::Slot& slot : network.layout.slots()) {
    if (!is_classifier(slot.spec)) continue;
    const std::span<const float> numbers = numbers_of(logistic, slot.spec);
    assert(slot.size() == numbers.size());
    std::ranges::copy(numbers, network.numbers.begin() + static_cast<std::ptrdiff_t>(slot.offset));
  }
}

void set_head(const Logistic& logistic, const HeadConfig& head, weights::Checkpoint& checkpoint) {
  checkpoint.config.head = head;
  checkpoint.config.head.classes = logistic.bias.size();
  checkpoint.config.head.head_bias = true;
  checkpoint.config.head.multi_label = false;
  std::set<std::string, std::less<>> names;
  weights::for_each_tensor(checkpoint.config, [&](const weights::TensorSpec& spec) {
    names.insert(spec.name);
    if (!is_classifier(spec)) return;
    const std::span<const float> numbers = numbers_of(logistic, spec);
    assert(spec.size() == numbers.size());
    checkpoint.add_numbers(spec.name, spec.shape, {numbers.begin(), numbers.end()});
  });
  std::vector<std::string> others;
  for (const auto& [name, weight] : checkpoint.weights())
    if (!names.contains(name)) others.push_back(name);
  for (const std::string& name : others) checkpoint.take(name);
}

}  // namespace vit::train
