#include "vit/gradient/layout.h"

#include "vit/base/error.h"
#include "weights/demand.h"

namespace vit::gradient {

Layout::Layout(const ModelConfig& config, const std::function<bool(std::string_view)>& has) {
  for (const weights::Demand& demand : weights::demands(config)) {
    if (demand.optional && !(has && has(demand.name))) continue;
    const size_t count = weights::element_count(demand.shape);
    // Tokens and tables are stored as [1, rows, D]; everything else has its rows first.
    const bool stacked = demand.shape.size() == 3 && demand.shape[0] == 1;
    const size_t rows = stacked ? demand.shape[1] : demand.shape.empty() ? 1 : demand.shape[0];
    index_.emplace(demand.name, slots_.size());
    slots_.push_back({demand.name, demand.shape, size_, rows, count / rows});
    size_ += count;
  }
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
