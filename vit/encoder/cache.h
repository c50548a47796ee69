/// Keys and values of the tokens seen so far, for step-by-step decoding.
#pragma once

#include "vit/base/matrix.h"

namespace vit {

/// One per layer. Decoding token by token with it gives the same result as the full causal pass.
class KeyValueCache {
 public:
  /// Room for `capacity` tokens of `key_width` and `value_width` numbers.
  KeyValueCache(size_t capacity, size_t key_width, size_t value_width)
      : keys_(capacity, key_width), values_(capacity, value_width) {}

  /// Throws an Error when the tokens do not fit.
  void append(ConstMatrixView keys, ConstMatrixView values);
  void clear() { length_ = 0; }

  size_t length() const { return length_; }
  size_t capacity() const { return keys_.rows(); }
  ConstMatrixView keys() const { return keys_.view().row_range(0, length_); }
  ConstMatrixView values() const { return values_.view().row_range(0, length_); }

 private:
  Matrix keys_;
  Matrix values_;
  size_t length_ = 0;
};

}  // namespace vit
