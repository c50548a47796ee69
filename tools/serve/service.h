/// From a request to the route that answers it: addresses, tokens, limits, metrics.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tools/serve/context.h"
#include "tools/serve/http/server.h"

namespace vit::tools::serve {

/// Whether the header is "Bearer T" with T one of the tokens. The time it takes does not depend on
/// how much of a token is right.
bool authorized(std::string_view header, const std::vector<std::string>& token_hashes);
/// SHA-256, as in `token_hashes`.
std::string token_hash(std::string_view token);

class Service {
 public:
  explicit Service(const Context& context) : context_(context) {}

  /// Refuses a request before its body is read.
  std::optional<Reply> admit(const Request& head) const;
  void answer(const std::shared_ptr<Exchange>& exchange) const;
  /// Adds headers to all answers, and writes errors in the form of the protocol of the route.
  void complete(const Request& request, Reply& reply) const;
  void count(const Finished& finished) const;

 private:
  Context context_;
};

}  // namespace vit::tools::serve
