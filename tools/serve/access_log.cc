#include "tools/serve/access_log.h"

#include <array>
#include <ctime>

#include "tools/output/json.h"
#include "tools/output/terminal.h"

namespace vit::tools::serve {
namespace {

constexpr size_t kMostWaiting = size_t{1} << 20;
constexpr size_t kMostForwarded = 200;  ///< bytes of what a proxy says about its client

/// "2026-03-01T12:00:00.123Z"
std::string now_text() {
  const auto now = std::chrono::system_clock::now();
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  const std::time_t seconds = milliseconds / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  const size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 16> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03dZ", static_cast<int>(milliseconds % 1000));
  return std::string(text.data(), length) + fraction.data();
}

}  // namespace

std::string log_line(const Finished& finished) {
  const auto& [request, reply, bytes_in, seconds] = finished;
  Json json;
  json["time"] = now_text();
  json["id"] = request.id;
  json["peer"] = request.peer;
  if (const auto client = request.header("x-forwarded-for"); !client.empty())
    json["forwarded_for"] = client.substr(0, kMostForwarded);
  json["method"] = request.method;
  json["target"] = request.target;
  json["status"] = reply.status;
  json["seconds"] = static_cast<float>(seconds.count());
  json["bytes_in"] = bytes_in;
  if (!reply.model.empty()) json["model"] = reply.model;
  if (reply.images != 0) json["images"] = reply.images;
  return dump(json) + "\n";
}

AccessLog::AccessLog() : thread_([this] { write(); }) {}

AccessLog::~AccessLog() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
}

void AccessLog::add(const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() + line.size() > kMostWaiting) {
    ++dropped_;
    return;
  }
  if (dropped_ != 0) {
    Json json;
    json["time"] = now_text();
    json["dropped_lines"] = std::exchange(dropped_, 0);
    waiting_ += dump(json) + "\n";
  }
  waiting_ += line;
  changed_.notify_all();
}

void AccessLog::write() {
  while (true) {
    std::string text;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ended_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      text.swap(waiting_);
    }
    try {
      write_output(text);
    } catch (const Error&) {
      // The log is no longer read; the service continues.
    }
  }
}

}  // namespace vit::tools::serve
