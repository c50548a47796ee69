/// The options of `vit serve`.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/model_options.h"
#include "tools/serve/context.h"
#include "tools/serve/http/server.h"

namespace vit::tools::serve {

struct ServeSettings {
  ModelSettings model;
  std::vector<ModelChoice> models;
  ServerSettings server;
  ServiceSettings service;
  size_t threads = 1;
  size_t queue = 16;  ///< images that wait
  bool log = true;
};

void add_serve_options(cxxopts::Options& options);
/// Throws a UsageError, or an Error for a token file that cannot be used.
ServeSettings parse_serve(const cxxopts::ParseResult& arguments);

}  // namespace vit::tools::serve
