/// Errors that a user or a file can cause. Our own bugs are `assert`s.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace vit {

/// Says where, what, got, expected and, where known, what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws an Error whose message is its arguments written one after the other.
template <typename... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw Error(message.str());
}

}  // namespace vit
