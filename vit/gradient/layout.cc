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

std::string_view without_backward_pass(const ModelConfig& c) {
  if (c.encoder.attention == AttentionKind::kDifferential) return "differential attention";
  if (c.head.distilled_head && c.head.classes == 0)
    return "a distilled model without its classifiers";
  return {};
}

void require_differentiable(const ModelConfig& config, std::string_view where) {
  const std::string_view what = without_backward_pass(config);
  if (!what.empty()) fail_at(where, what, " has no backward pass here; choose a model without it");
}

}  // namespace vit::gradient
