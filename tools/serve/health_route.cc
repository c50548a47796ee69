/// GET /health/live, /health/ready and /metrics.
#include "tools/serve/routes.h"

namespace vit::tools::serve {

void answer_live(const Call& call) {
  call.exchange->answer({.body = "{\"status\": \"live\"}\n"});
}

void answer_ready(const Call& call) {
  if (!call.context.queue.has_room())
    return call.exchange->answer(busy_reply(503, "too many images are waiting"));
  call.exchange->answer({.body = "{\"status\": \"ready\"}\n"});
}

void answer_metrics(const Call& call) {
  const auto [waiting, running] = call.context.queue.counts();
  const Server& server = call.context.server;
  const Gauges gauges{.waiting = waiting,
                      .running = running,
                      .connections = server.connections(),
                      .refused = server.refused()};
  call.exchange->answer({.body = call.context.metrics.text(gauges),
                         .content_type = "text/plain; version=0.0.4; charset=utf-8"});
}

}  // namespace vit::tools::serve
