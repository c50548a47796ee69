#include "tools/serve/serve.h"

#include <sys/resource.h>

#include <csignal>
#include <optional>

#include "tools/output/terminal.h"
#include "tools/serve/access_log.h"
#include "tools/serve/reloader.h"
#include "tools/serve/service.h"
#include "tools/serve/settings.h"

namespace vit::tools {
namespace {

using namespace serve;

constexpr std::string_view kExamples =
    "  vit serve -m deit_tiny_patch16_224\n"
    "  curl --data-binary @cat.jpg 'http://127.0.0.1:8080/v1/classify?k=3'\n"
    "  vit serve -m small=deit_tiny_patch16_224 -m large=model.safetensors --port 9000\n"
    "  vit serve --host 0.0.0.0 --token-file tokens.txt > access.jsonl\n";

/// A connection needs a file descriptor, and the usual limit of a process is 1024.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void reload(Models& models, Metrics& metrics) {
  try {
    models.reload();
    metrics.count_reload(true);
    write_message("models reloaded");
  } catch (const std::exception& error) {
    metrics.count_reload(false);
    write_message(std::string(error.what()) + "; the models that were loaded before stay");
  }
}

void say_where(const ServeSettings& settings, const Models& models, const Server& server) {
  std::string names;
  for (const ModelPtr& model : *models.list()) names += (names.empty() ? "" : ", ") + model->name;
  const std::string& host = settings.server.host;
  if (settings.service.token_hashes.empty() && !host.starts_with("127.") && host != "localhost" &&
      host != "::1")
    write_message("anyone who can reach " + host + " may use this server; see --token-file");
  write_message("serving " + names + " at " + server.address());
}

int run(const cxxopts::ParseResult& arguments) {
  const ServeSettings settings = parse_serve(arguments);
  raise_file_limit();
  std::signal(SIGPIPE, SIG_IGN);   // the reader of the log may end
  Server server(settings.server);  // a port that is taken is noticed before models are loaded
  Models models(settings.models, settings.model);
  Metrics metrics;
  std::optional<AccessLog> log;
  if (settings.log) log.emplace();
  serving::WorkQueue queue(settings.threads, settings.queue);
  Reloader reloader([&] { reload(models, metrics); });
  const Service service({settings.service, models, queue, metrics, server});
  say_where(settings, models, server);
  server.run(
      {.admit = [&](const Request& head) { return service.admit(head); },
       .answer = [&](const auto& exchange) { service.answer(exchange); },
       .complete = [&](const Request& request, Reply& reply) { service.complete(request, reply); },
       .finished =
           [&](const Finished& finished) {
             service.count(finished);
             if (log) log->add(log_line(finished));
           },
       .reload = [&] { reloader.start(); }});
  queue.drain();
  return 0;
}

}  // namespace

Command serve_command() {
  return {
      .name = "serve",
      .summary = "serve models over HTTP, with a page to drop images on",
      .description =
          "Serve models over HTTP: classes, embeddings and attention maps of images, and a page to "
          "drop images on.",
      .usage = "[-m [NAME=]MODEL]... [OPTION...]",
      .examples = kExamples,
      .operands = {.most = 0, .noun = "operand", .expected = "none"},
      .add_options = add_serve_options,
      .run = run};
}

}  // namespace vit::tools
