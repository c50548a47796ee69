#include "vit/gradient/layout.h"

#include "vit/base/error.h"

namespace vit::gradient {

Layout::Layout(const ModelConfig& config, const std::function<bool(std::string_view)>& has) {
  weights::for_each_tensor(config, [&](const weights::TensorSpec& spec) {
    if (spec.optional && !(has && has(spec.name))) return;
    index_.emplace(spec.name, slots_.size());
    slots_.push_back({spec, size_, spec.rows(), spec.size() / spec.rows()});
    size_ += spec.size();
  });
}

const Slot* Layout::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &slots_[found->second];
}

void require_differentiable(const ModelConfig& config, std::string_view where) {
  if (config.encoder.attention == AttentionKind::kDifferential)
    fail(where, ": differential attention has no backward pass here, expected standard attention");
  if (config.head.distilled_head && config.head.classes == 0)
    fail(where, ": a distilled model without its classifiers has no backward pass here");
}

}  // namespace vit::gradient
