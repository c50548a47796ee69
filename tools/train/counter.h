/// How far a long task is.
#pragma once

#include <string>

#include "tools/output/terminal.h"

namespace vit::tools {

/// A counter on the terminal, and nothing in a file.
class Counter {
 public:
  Counter(std::string what, size_t all) : what_(std::move(what)), all_(all) {}
  void operator()(size_t done) const {
    if (!output_is_terminal() || (done % 16 != 0 && done != all_)) return;
    write_output("\r" + what_ + " " + std::to_string(done) + "/" + std::to_string(all_) +
                 (done == all_ ? "\n" : ""));
  }

 private:
  std::string what_;
  size_t all_;
};

}  // namespace vit::tools
