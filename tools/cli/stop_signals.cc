#include "tools/cli/stop_signals.h"

namespace vit::tools {
namespace {

// A signal handler can only use globals.
std::atomic<bool> stop_requested{false};
std::atomic<int> signal_number{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void request_stop(int number) {
  int none = 0;
  if (!signal_number.compare_exchange_strong(none, number)) {
    // The second signal ends the program. It stays blocked until this function returns.
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
  stop_requested = true;
}

constexpr std::array kSignals{SIGINT, SIGTERM};

}  // namespace

StopSignals::StopSignals() {
  stop_requested = false;
  signal_number = 0;
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

StopSignals::~StopSignals() {
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

const std::atomic<bool>& StopSignals::flag() const {
  return stop_requested;
}

int StopSignals::number() const {
  return signal_number;
}

}  // namespace vit::tools
