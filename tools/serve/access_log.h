/// A line of JSON for each request, written by a thread of its own: a slow reader of the log must
/// not stop the service.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tools/serve/http/server.h"

namespace vit::tools::serve {

std::string log_line(const Finished& finished);

class AccessLog {
 public:
  /// To standard output.
  AccessLog();
  ~AccessLog();  ///< after all lines are written
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  /// Lines are dropped while the reader is too slow; the next line that is written counts them.
  void add(const std::string& line);

 private:
  void write();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string waiting_;
  std::size_t dropped_ = 0;
  bool ended_ = false;
  std::jthread thread_;
};

}  // namespace vit::tools::serve
