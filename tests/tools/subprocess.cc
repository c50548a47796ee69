#include "tests/tools/subprocess.h"
#include "tests/support/paths.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

void close_reader_of_output() {
  int ends[2];
  if (pipe(ends) != 0 || dup2(ends[1], STDOUT_FILENO) < 0) _exit(126);
  close(ends[0]);
  close(ends[1]);
}

/// In the child, between fork and exec. Files instead of pipes: nothing can block on a full one.
[[noreturn]] void become_program(const Call& call, const Folder& folder) {
  const auto redirect = [](const std::string& path, int flags, int to) {
    const int file = open(path.c_str(), flags, 0600);
    if (file < 0 || dup2(file, to) < 0) _exit(126);
  };
  redirect(folder.path("in"), O_RDONLY, STDIN_FILENO);
  redirect(call.output_to.empty() ? folder.path("out") : call.output_to, O_WRONLY | O_CREAT,
           STDOUT_FILENO);
  if (call.output_closed) close_reader_of_output();
  if (call.ignore_broken_pipe) std::signal(SIGPIPE, SIG_IGN);
  redirect(folder.path("err"), O_WRONLY | O_CREAT, STDERR_FILENO);
  for (const auto& entry : call.environment) putenv(const_cast<char*>(entry.c_str()));
  if (call.largest_file != 0) {
    const rlimit limit{call.largest_file, call.largest_file};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, call.ends_at_largest_file ? SIG_DFL : SIG_IGN);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
  }
  std::vector<char*> argv{const_cast<char*>(call.program.empty() ? "vit" : call.program.c_str())};
  for (const auto& argument : call.arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  if (call.program.empty())
    execv(test::program(), argv.data());
  else
    execvp(argv.front(), argv.data());
  _exit(127);
}

}  // namespace

struct Running::State {
  Folder folder;
  pid_t child = -1;
};

Running::Running(const Call& call) : state_(std::make_unique<State>()) {
  state_->folder.write("in", call.input);
  state_->child = fork();
  if (state_->child < 0) throw std::runtime_error("cannot fork");
  if (state_->child == 0) become_program(call, state_->folder);
}

Running::~Running() {
  if (state_->child < 0) return;
  send(SIGKILL);
  wait();
}

void Running::send(int signal) const {
  kill(state_->child, signal);
}

bool Running::ends_within(std::chrono::seconds limit) const {
  const auto end = std::chrono::steady_clock::now() + limit;
  siginfo_t info{};
  while (waitid(P_PID, static_cast<id_t>(state_->child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return info.si_pid != 0;
}

Finished Running::wait() {
  int status = 0;
  rusage used{};
  wait4(state_->child, &status, 0, &used);
  state_->child = -1;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .out = read_file(state_->folder.path("out")),
          .err = read_file(state_->folder.path("err")),
          .seconds = seconds(used.ru_utime) + seconds(used.ru_stime),
          .peak_bytes = static_cast<size_t>(used.ru_maxrss) * 1024};
}

Finished run(const Call& call) {
  return Running(call).wait();
}

Finished run(const std::vector<std::string>& arguments) {
  Call call;
  call.arguments = arguments;
  return run(call);
}

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string golden(const std::string& name) {
  return (test::goldens() / name).string();
}

std::string golden_image(const std::string& name) {
  return golden(name) + "/image.png";
}

}  // namespace vit::tools
