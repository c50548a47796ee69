/// Runs the built program as a user would.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/folder.h"

namespace vit::tools {

struct Finished {
  int status = -1;  ///< the exit status; 128 + N where signal N ended it
  std::string out;
  std::string err;
  double seconds = 0.0;   ///< of the processor: the machine may have other work
  size_t peak_bytes = 0;  ///< most memory it had at a time
};

struct Call {
  std::vector<std::string> arguments;
  std::string input;                     ///< on standard input
  std::vector<std::string> environment;  ///< "NAME=value", added
  std::string output_to;                 ///< a file for standard output instead of `out`
  bool output_closed = false;            ///< standard output is a pipe without a reader
  bool ignore_broken_pipe = false;       ///< as some parents leave it to their children
  std::string program;                   ///< empty: vit itself; else found on the PATH
  std::size_t largest_file = 0;          ///< bytes that a file may have, 0: any number
  bool ends_at_largest_file = false;     ///< a write beyond ends the program, as SIGKILL does
};

/// A running program.
class Running {
 public:
  explicit Running(const Call& call);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void send(int signal) const;
  /// Waits at most `limit` for its end: a program that hangs fails its test, not the whole suite.
  bool ends_within(std::chrono::seconds limit) const;
  Finished wait();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Finished run(const Call& call);
Finished run(const std::vector<std::string>& arguments);

using test::Folder;

std::string read_file(const std::filesystem::path& path);

/// A reference case: its folder is a model, with a picture in it.
std::string golden(const std::string& name);
std::string golden_image(const std::string& name);

}  // namespace vit::tools
