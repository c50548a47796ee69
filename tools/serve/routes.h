/// The routes of the service.
#pragma once

#include <span>
#include <string_view>

#include "tools/serve/context.h"

namespace vit::tools::serve {

void answer_classify(const Call& call);
void answer_model_list(const Call& call);
void answer_model(const Call& call);
void answer_embeddings(const Call& call);
void answer_attention(const Call& call);
void answer_v2_server(const Call& call);
void answer_v2_live(const Call& call);
void answer_v2_ready(const Call& call);
void answer_v2_model(const Call& call);
void answer_v2_model_ready(const Call& call);
void answer_v2_infer(const Call& call);
void answer_openapi(const Call& call);
void answer_page(const Call& call);
void answer_page_style(const Call& call);
void answer_page_script(const Call& call);
void answer_live(const Call& call);
void answer_ready(const Call& call);
void answer_metrics(const Call& call);

struct Route {
  std::string_view method;
  std::string_view path;  ///< "{model}" stands for one segment
  void (*answer)(const Call& call);
  bool images = false;  ///< it takes images, and a place in the queue
  bool open = false;    ///< answered without a token
};

std::span<const Route> routes();

}  // namespace vit::tools::serve
