/// The operating system refuses to start a thread.
#pragma once

#include <cstddef>
#include <string>
#include <system_error>

#include "vit/base/error.h"

namespace vit {

class ThreadError : public Error {
 public:
  /// `workers`: how many were asked for.
  ThreadError(std::size_t workers, const std::system_error& cause)
      : Error("cannot start " + std::to_string(workers) + " worker thread" +
              (workers == 1 ? "" : "s") + ": " + cause.code().message()),
        workers_(workers) {}

  std::size_t workers() const { return workers_; }

 private:
  std::size_t workers_;
};

}  // namespace vit
