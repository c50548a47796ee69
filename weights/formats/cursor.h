/// Reads the fields of a binary header one after the other, never beyond the end.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "vit/base/error.h"
#include "weights/numbers.h"

namespace vit::weights {

class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, const std::string& where)
      : bytes_(bytes), where_(where) {}

  size_t at() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }
  const std::string& where() const { return where_; }

  template <typename T>
  T take() {
    return load<T>(take_bytes(sizeof(T)).data());
  }
  std::span<const std::byte> take_bytes(size_t count) {
    if (count > left()) fail_at(where_, "cut short at byte ", bytes_.size(), " of its header");
    at_ += count;
    return bytes_.subspan(at_ - count, count);
  }
  std::string take_string(size_t length) {
    const auto taken = take_bytes(length);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& where_;
  size_t at_ = 0;
};

}  // namespace vit::weights
