#include "tests/tools/serve/served.h"

#include <sstream>
#include <stdexcept>
#include <thread>

#include "tests/support/paths.h"

namespace vit::tools {

Served::Served(std::vector<std::string> arguments) {
  // A shell that becomes the program, with its messages in a file that can be read meanwhile.
  Call call;
  call.program = "sh";
  call.arguments = {
      "-c", "exec \"$@\" 2>\"$0\"", folder_.path("messages"), test::program(), "serve", "--port",
      "0"};
  call.arguments.insert(call.arguments.end(), arguments.begin(), arguments.end());
  call.output_to = folder_.path("log");
  running_ = std::make_unique<Running>(call);
  const std::string sign = " at http://127.0.0.1:";
  while (true) {
    const std::string said = messages();
    const size_t at = said.rfind(sign);
    if (at != said.npos && said.ends_with('\n')) {
      port_ = static_cast<std::uint16_t>(std::stoul(said.substr(at + sign.size())));
      return;
    }
    if (running_->ends_within(std::chrono::seconds(0))) throw std::runtime_error(messages());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

Finished Served::stop() {
  send(SIGTERM);
  return wait();
}

double Served::metric(const std::string& name) const {
  std::istringstream lines(get("/metrics").body);
  std::string line;
  while (std::getline(lines, line))
    if (line.starts_with(name + " ")) return std::stod(line.substr(name.size() + 1));
  return 0.0;
}

std::string two_towers() {
  return (test::source_dir() / "tests/text/siglip2").string();
}

std::string classified(const std::string& model, const std::vector<std::string>& files,
                       const std::vector<std::string>& options) {
  std::vector<std::string> arguments{"classify", "-m", model, "--json"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.insert(arguments.end(), files.begin(), files.end());
  // Rows of labels that another build left in the user's cache may differ in their last digits.
  const Folder cache;
  Call call;
  call.arguments = std::move(arguments);
  call.environment = {"XDG_CACHE_HOME=" + cache.path()};
  return run(call).out;
}

}  // namespace vit::tools
