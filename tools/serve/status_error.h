/// What is wrong with a request, and the HTTP status that says so.
#pragma once

#include <string>

#include "vit/base/error.h"

namespace vit::tools::serve {

class StatusError : public Error {
 public:
  StatusError(int status, const std::string& message) : Error(message), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

/// Throws a StatusError whose message is its arguments written one after the other.
template <typename... Parts>
[[noreturn]] void fail_request(int status, const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw StatusError(status, message.str());
}

}  // namespace vit::tools::serve
