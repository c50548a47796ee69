/// Runs something where the operating system starts only a few threads more.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>

#include "vit/base/thread_error.h"

namespace vit::test {

inline bool threads_can_be_limited() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;  // a sanitizer reserves more than any limit
#else
  return true;
#endif
}

/// The message of the ThreadError that `action` throws in a process of its own with addresses for
/// some ten more threads; "none" if it throws none, "ended by signal N" or "hangs" otherwise.
inline std::string message_with_few_threads(const std::function<void()>& action) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t bytes = pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + (size_t{100} << 20);
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
    std::string message = "none";
    try {
      action();
    } catch (const ThreadError& error) {
      message = error.what();
    }
    const bool written = write(ends[1], message.data(), message.size()) > 0;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string message(1000, '\0');
  const ssize_t count = read(ends[0], message.data(), message.size());
  message.resize(count > 0 ? static_cast<size_t>(count) : 0);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    return WTERMSIG(status) == SIGALRM ? "hangs"
                                       : "ended by signal " + std::to_string(WTERMSIG(status));
  return message;
}

}  // namespace vit::test
