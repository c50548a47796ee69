/// GET /: the page, and /openapi.json.
#include "tools/explorer/page.h"
#include "tools/output/digest.h"
#include "tools/serve/page_parts.h"
#include "tools/serve/routes.h"
#include "vit/base/encoding.h"

namespace vit::tools::serve {
namespace {

/// The hash by which a Content-Security-Policy allows an inline script or style.
std::string policy_hash(const std::string& text) {
  Digest digest = Digest::sha256();
  digest.add(std::as_bytes(std::span(text)));
  return "'sha256-" + base64(from_hex(digest.finish()).value()) + "'";
}

/// Allows nothing from other hosts. The explorer is a document that the page makes from an answer,
/// so it is under the policy of the page, which allows its inline style and script by their hashes.
std::string policy() {
  const InlineParts explorer = explorer_inline_parts();
  return "default-src 'none'; script-src 'self' " + policy_hash(explorer.script) +
         "; style-src 'self' " + policy_hash(explorer.style) +
         "; img-src data: blob:; connect-src 'self'; frame-src blob:; base-uri 'none'; "
         "form-action 'none'; frame-ancestors 'none'";
}

void answer_text(const Call& call, std::string_view text, const char* type) {
  Reply reply{.body = std::string(text), .content_type = type};
  reply.headers.emplace_back("Content-Security-Policy", policy());
  reply.headers.emplace_back("Referrer-Policy", "no-referrer");
  call.exchange->answer(std::move(reply));
}

}  // namespace

void answer_page(const Call& call) {
  answer_text(call, kPage, "text/html; charset=utf-8");
}

void answer_page_style(const Call& call) {
  answer_text(call, kPageStyle, "text/css; charset=utf-8");
}

void answer_page_script(const Call& call) {
  answer_text(call, kPageScript, "text/javascript; charset=utf-8");
}

void answer_openapi(const Call& call) {
  call.exchange->answer({.body = std::string(kOpenApi)});
}

}  // namespace vit::tools::serve
