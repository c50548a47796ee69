/// Where each tensor of a model lies in one long row of numbers. Parameters, their gradients, the
/// moments of an optimiser and running averages all share it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "vit/base/config.h"
#include "weights/tensor_list.h"

namespace vit::gradient {

struct Slot {
  weights::TensorSpec spec;
  size_t offset = 0;  ///< of its first number
  size_t rows = 0;    ///< as a matrix
  size_t cols = 0;

  const std::string& name() const { return spec.name; }
  size_t size() const { return rows * cols; }
};

class Layout {
 public:
  Layout() = default;
  /// `has` decides on tensors that a model may or may not have; none: they are left out.
  explicit Layout(const ModelConfig& config,
                  const std::function<bool(std::string_view name)>& has = {});

  const std::vector<Slot>& slots() const { return slots_; }
  /// Null if the model has no such tensor.
  const Slot* find(std::string_view name) const;
  /// Numbers in all tensors together.
  size_t size() const { return size_; }

 private:
  std::vector<Slot> slots_;
  std::map<std::string, size_t, std::less<>> index_;
  size_t size_ = 0;
};

/// What of this configuration has no backward pass; empty: all of it has one.
std::string_view without_backward_pass(const ModelConfig& config);

/// Throws an Error naming what of this configuration has no backward pass. `where` opens it.
void require_differentiable(const ModelConfig& config, std::string_view where);

}  // namespace vit::gradient
