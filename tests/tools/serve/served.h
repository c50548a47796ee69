/// A running `vit serve` on a free port of this machine.
#pragma once

#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/tools/serve/http_client.h"
#include "tests/tools/subprocess.h"

namespace vit::tools {

class Served {
 public:
  /// Returns when the server accepts requests. Throws its messages if it ended instead.
  explicit Served(std::vector<std::string> arguments);

  std::uint16_t port() const { return port_; }
  Answer ask(const Ask& ask) const { return tools::ask(port_, ask); }
  Answer get(const std::string& target) const { return ask({.target = target}); }
  Answer post(const std::string& target, const std::string& body,
              const std::string& type = "image/png") const {
    return ask({.method = "POST", .target = target, .body = body, .type = type});
  }

  void send(int signal) const { running_->send(signal); }
  /// Sends SIGTERM and waits for the end.
  Finished stop();
  Finished wait() { return running_->wait(); }
  bool ends_within(std::chrono::seconds limit) const { return running_->ends_within(limit); }

  std::string messages() const { return read_file(folder_.path("messages")); }
  std::string log() const { return read_file(folder_.path("log")); }
  /// The value of a line of /metrics, such as "vit_queue_images"; 0 where there is none.
  double metric(const std::string& name) const;

 private:
  Folder folder_;
  std::unique_ptr<Running> running_;
  std::uint16_t port_ = 0;
};

/// A model that reads images and text.
std::string two_towers();

/// What `vit classify --json` writes.
std::string classified(const std::string& model, const std::vector<std::string>& files,
                       const std::vector<std::string>& options = {});

}  // namespace vit::tools
