/// GET /v1/models and /v1/models/{model}.
#include "tools/serve/routes.h"

namespace vit::tools::serve {
namespace {

Json describe(const ServedModel& model) {
  const ModelConfig& config = model.classifier.config();
  Json json;
  json["id"] = model.name;
  json["object"] = "model";
  json["owned_by"] = "vit";
  json["architecture"] = model.classifier.name();
  json["classes"] = model.classes();
  json["text"] = model.words() != nullptr;
  json["multi_label"] = config.head.multi_label;
  json["outputs"] = config.outputs();
  json["recipe"] = to_json(model.classifier.recipe());
  return json;
}

}  // namespace

void answer_model_list(const Call& call) {
  Json json;
  json["object"] = "list";
  json["data"] = Json::array();
  for (const ModelPtr& model : *call.context.models.list())
    json["data"].push_back(describe(*model));
  call.exchange->answer({.body = dump(json) + "\n"});
}

void answer_model(const Call& call) {
  const ModelPtr model = call.context.models.find(call.model);
  Json json = describe(*model);
  json["labels"] = model->classifier.labels();
  call.exchange->answer({.body = dump(json) + "\n"});
}

}  // namespace vit::tools::serve
