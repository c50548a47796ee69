/// Names from a file or a pipe, one after the other.
#pragma once

#include <atomic>
#include <optional>
#include <string>

namespace vit::tools {

class NameList {
 public:
  /// `stop` ends the wait for further names.
  NameList(int file, char separator, const std::atomic<bool>& stop)
      : file_(file), separator_(separator), stop_(stop) {}

  /// None at the end. Empty names are skipped, a carriage return before a line's end is not
  /// part of the name. Throws an Error.
  std::optional<std::string> next();

 private:
  bool read_more();

  int file_;
  char separator_;
  const std::atomic<bool>& stop_;
  std::string buffer_;
  std::size_t at_ = 0;
  bool ended_ = false;
};

}  // namespace vit::tools
