#include "tools/serve/settings.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>

#include "tools/cli/options.h"
#include "tools/cli/served_model_options.h"
#include "tools/cli/word_options.h"
#include "tools/serve/service.h"
#include "vit/base/error.h"
#include "vit/base/thread_pool.h"

namespace vit::tools::serve {
namespace {

/// Waiting images per worker thread unless --queue is given: a request that has to wait then takes
/// at most about ten times as long as one that does not.
constexpr size_t kQueuePerThread = 8;
constexpr size_t kLeastTokenLength = 16;

std::chrono::milliseconds parse_seconds(std::string_view option, const std::string& text) {
  constexpr float kMostSeconds = 86'400.0f;
  const float seconds = parse_positive(option, text);
  if (seconds > kMostSeconds)
    fail_usage("option '", option, "' got '", text, "', expected at most ", kMostSeconds,
               " seconds");
  return std::chrono::milliseconds(std::max(1L, std::lround(1000.0f * seconds)));
}

size_t parse_megabytes(std::string_view option, const std::string& text) {
  constexpr size_t kMost = 1 << 20;
  return parse_count(option, text, 1, kMost) << 20;
}

/// A token per line; blank lines are ignored.
std::vector<std::string> read_tokens(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail_at(path, "cannot read the token file");
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && (status.st_mode & (S_IROTH | S_IWOTH)) != 0)
    fail_at(path, "every user of this machine can read or write the tokens; run chmod 600 on it");
  std::vector<std::string> hashes;
  std::string line;
  while (std::getline(file, line)) {
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0)
      line.pop_back();
    if (line.empty()) continue;
    if (line.size() < kLeastTokenLength)
      fail_at(path, "a token of ", line.size(), " characters, expected at least ",
              kLeastTokenLength, "; openssl rand -hex 32 makes one");
    hashes.push_back(token_hash(line));
  }
  if (hashes.empty()) fail_at(path, "no token in this file, expected one per line");
  return hashes;
}

std::vector<ModelChoice> parse_models(const cxxopts::ParseResult& arguments) {
  std::vector<ModelChoice> models;
  for (const auto& choice : values_of(arguments, "model"))
    models.push_back(parse_model_choice(choice));
  if (models.empty()) models.push_back({"", ""});
  return models;
}

ServerSettings parse_server(const cxxopts::ParseResult& arguments) {
  const auto text = [&](const char* name) { return arguments[name].as<std::string>(); };
  ServerSettings server;
  server.host = text("host");
  server.port = static_cast<std::uint16_t>(parse_count("--port", text("port"), 0, 65535));
  server.connections = parse_count("--max-connections", text("max-connections"), 1, 1'000'000);
  server.body_bytes = parse_megabytes("--max-body", text("max-body"));
  server.buffered_bytes = parse_megabytes("--max-buffered", text("max-buffered"));
  server.answer = parse_seconds("--time-limit", text("time-limit"));
  server.receive = parse_seconds("--receive-limit", text("receive-limit"));
  server.send = server.receive;
  server.idle = parse_seconds("--idle-limit", text("idle-limit"));
  return server;
}

}  // namespace

void add_serve_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  const auto text_or = [&](const char* value) { return text()->default_value(value); };
  options.add_options(
      "", {
              {"m,model",
               "a folder with weights and config.json, a weight file or a pulled model, with an "
               "optional name for requests; may be given several times (default: $VIT_MODEL or the "
               "bundled model)",
               text(), "[NAME=]MODEL"},
              {"host", "address to listen on; 0.0.0.0 for all addresses of the machine",
               text_or("127.0.0.1"), "HOST"},
              {"port", "port to listen on; 0 for any free port", text_or("8080"), "N"},
              {"token-file", "file of tokens, one per line; each request must have one", text(),
               "FILE"},
          });
  options.add_options(
      "Limits",
      {
          {"max-body", "largest body of a request, in MiB", text_or("16"), "N"},
          {"max-buffered", "bodies of all requests together, in MiB", text_or("256"), "N"},
          {"max-images", "images in one request", text_or("16"), "N"},
          {"max-texts", "texts in one request: labels times templates", text_or("256"), "N"},
          {"queue", "images that wait for a worker (default: 8 per thread)", text(), "N"},
          {"max-connections", "connections; idle ones are closed for new ones", text_or("1024"),
           "N"},
          {"time-limit", "seconds from a request to its answer", text_or("30"), "S"},
          {"receive-limit", "seconds in which a request must arrive, and its answer be read",
           text_or("30"), "S"},
          {"idle-limit", "seconds that a connection may stay without a request", text_or("60"),
           "S"},
      });
  options.add_options("Output", {{"no-log", "no line per request on standard output"}});
  add_quiet_option(options);
  add_word_options(options);
  add_served_model_options(options);
  add_merge_option(options);
}

ServeSettings parse_serve(const cxxopts::ParseResult& arguments) {
  const auto text = [&](const char* name) { return arguments[name].as<std::string>(); };
  ServeSettings settings;
  settings.model = parse_model_settings(arguments);
  settings.models = parse_models(arguments);
  settings.server = parse_server(arguments);
  settings.threads = settings.model.classifier.threads;
  if (settings.threads == 0) settings.threads = available_threads();
  settings.queue = arguments.count("queue") ? parse_count("--queue", text("queue"), 1, 1'000'000)
                                            : kQueuePerThread * settings.threads;
  settings.service.most_images = parse_count("--max-images", text("max-images"), 1, 100'000);
  settings.service.most_texts = parse_count("--max-texts", text("max-texts"), 1, 100'000);
  settings.service.pixels = {settings.model.max_pixels, settings.model.exif};
  if (arguments.count("token-file"))
    settings.service.token_hashes = read_tokens(text("token-file"));
  settings.log = arguments.count("no-log") == 0;
  return settings;
}

}  // namespace vit::tools::serve
