#include "tools/serve/routes.h"

#include <array>

namespace vit::tools::serve {
namespace {

constexpr bool kImages = true;
constexpr bool kOpen = true;  // no token is needed

constexpr std::array kRoutes{
    Route{"POST", "/v1/classify", answer_classify, kImages},
    Route{"POST", "/v1/embeddings", answer_embeddings, kImages},
    Route{"POST", "/v1/attention", answer_attention, kImages},
    Route{"GET", "/v1/models", answer_model_list},
    Route{"GET", "/v1/models/{model}", answer_model},
    Route{"GET", "/v2", answer_v2_server},
    Route{"GET", "/v2/health/live", answer_v2_live, !kImages, kOpen},
    Route{"GET", "/v2/health/ready", answer_v2_ready, !kImages, kOpen},
    Route{"GET", "/v2/models/{model}", answer_v2_model},
    Route{"GET", "/v2/models/{model}/ready", answer_v2_model_ready},
    Route{"POST", "/v2/models/{model}/infer", answer_v2_infer, kImages},
    Route{"GET", "/v2/models/{model}/versions/1", answer_v2_model},
    Route{"GET", "/v2/models/{model}/versions/1/ready", answer_v2_model_ready},
    Route{"POST", "/v2/models/{model}/versions/1/infer", answer_v2_infer, kImages},
    Route{"GET", "/health/live", answer_live, !kImages, kOpen},
    Route{"GET", "/health/ready", answer_ready, !kImages, kOpen},
    Route{"GET", "/metrics", answer_metrics},
    Route{"GET", "/openapi.json", answer_openapi, !kImages, kOpen},
    Route{"GET", "/", answer_page, !kImages, kOpen},
    Route{"GET", "/page.css", answer_page_style, !kImages, kOpen},
    Route{"GET", "/page.js", answer_page_script, !kImages, kOpen},
};

}  // namespace

std::span<const Route> routes() {
  return kRoutes;
}

}  // namespace vit::tools::serve
