#include "tools/stop_signals.h"

#include <csignal>

namespace vit::tools {
namespace {

// A handler can reach nothing but globals.
std::atomic<bool> stop_requested{false};
std::atomic<int> signal_number{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void request_stop(int number) {
  signal_number = number;
  stop_requested = true;
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(number, &action, nullptr);
}

}  // namespace

StopSignals::StopSignals() {
  stop_requested = false;
  signal_number = 0;
  for (const int number : {SIGINT, SIGTERM}) handle(number, request_stop);
}

StopSignals::~StopSignals() {
  for (const int number : {SIGINT, SIGTERM}) handle(number, SIG_DFL);
}

const std::atomic<bool>& StopSignals::flag() const {
  return stop_requested;
}

int StopSignals::number() const {
  return signal_number;
}

}  // namespace vit::tools
