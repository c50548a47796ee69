/// Errors in the command line, as opposed to those in files.
#pragma once

#include "vit/base/error.h"

namespace vit::tools {

/// Ends the program with status 2 and a pointer to the help; any other error ends it with 1.
class UsageError : public Error {
 public:
  using Error::Error;
};

template <typename... Parts>
[[noreturn]] void fail_usage(const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw UsageError(message.str());
}

}  // namespace vit::tools
