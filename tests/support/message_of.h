/// The text of an error that a test expects.
#pragma once

#include <functional>
#include <string>

#include "vit/base/error.h"

namespace vit::test {

/// The message of the Error that `action` throws; "no error" if it throws none.
inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace vit::test
