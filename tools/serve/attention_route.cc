/// POST /v1/attention: a picture, the explorer, or its numbers.
#include <memory>

#include "tools/analysis/maps.h"
#include "tools/analysis/picture.h"
#include "tools/analysis/relevance.h"
#include "tools/cli/class_names.h"
#include "tools/cli/explainable.h"
#include "tools/draw/canvas.h"
#include "tools/explorer/page.h"
#include "tools/serve/routes.h"
#include "tools/serve/status_error.h"
#include "vit/base/text.h"

namespace vit::tools::serve {
namespace {

enum class Form { kPicture, kPage, kNumbers };

/// One request under way.
struct Look {
  std::shared_ptr<Exchange> exchange;  ///< its request may hold the bytes of the image
  Inputs inputs;
  Form form = Form::kPicture;
  MapMethod method = MapMethod::kAttention;
  MapSettings map;
  std::vector<std::string> targets;     ///< classes that relevance explains; empty: the answer
  std::vector<text::WordLabel> labels;  ///< empty: the model's own classes
  Reply reply;
};

/// The projection of a two-tower model is stored as a classifier, but its outputs are not classes:
/// the labels of a request are.
bool explains(const ServedModel& model, size_t labels = 0) {
  ModelConfig config = model.classifier.config();
  if (labels != 0) config.head.classes = labels;
  return (labels != 0 || model.classes() != 0) && explainable(config, model.merge_tokens());
}

Form read_form(const std::string& text) {
  if (text == "png") return Form::kPicture;
  if (text == "html") return Form::kPage;
  if (text == "json") return Form::kNumbers;
  fail_request(400, "'format' is '", text, "', expected png, html or json");
}

MapMethod read_method(const std::string& text) {
  if (const auto method = enum_named<MapMethod>(text)) return *method;
  fail_request(400, "'method' is '", text, "', expected ", list_of_names<MapMethod>());
}

/// The picture of a class is one of relevance, as with --class of vit attention.
MapMethod choose_method(const Request& request, const Json& fields, const ServedModel& model,
                        const Look& work) {
  const auto given = [&](const char* name) { return setting(request, fields, name); };
  const bool explained = explains(model, work.labels.size());
  const bool of_class = work.form == Form::kPicture && !work.targets.empty();
  MapMethod method = explained || of_class ? MapMethod::kRelevance : MapMethod::kAttention;
  if (given("layer") || given("head") || given("query")) method = MapMethod::kAttention;
  if (const auto text = given("method")) method = read_method(*text);
  if (method != MapMethod::kRelevance || explained) return method;
  if (model.merge_tokens() != 0)
    fail_request(422, "relevance needs a gradient for each patch, which merged patches do not ",
                 "have; this service merges tokens (--merge-tokens ", model.merge_tokens(),
                 "), expected the method attention or rollout");
  fail_request(422, "class relevance is not defined for this model");
}

MapSettings read_map(const Request& request, const Json& fields) {
  MapSettings map;
  const auto given = [&](const char* name) { return setting(request, fields, name); };
  if (const auto text = given("layer")) {
    map.layer = to_number<long>(*text);
    if (!map.layer) fail_request(400, "'layer' is '", *text, "', expected a whole number");
  }
  if (const auto text = given("head")) {
    map.head = to_number<size_t>(*text);
    if (!map.head) fail_request(400, "'head' is '", *text, "', expected a number from 0");
  }
  if (const auto text = given("query")) {
    map.query = to_query(*text);
    if (!map.query)
      fail_request(400, "'query' is '", *text,
                   "', expected cls, distillation, register:N, mean, pool, ROW,COL or x:PX,y:PX");
  }
  return map;
}

Reply picture(const ServedModel& model, const ImageAnalysis& analysis, const Look& work) {
  try {
    RelevanceTargets targets;
    if (work.method == MapMethod::kRelevance)
      targets = {&model.network(), find_classes(model.classifier, work.targets)};
    const MapSheet sheet = make_maps(model.classifier, analysis, work.method, work.map, targets);
    return {.body = encode_picture(draw_maps(model.name, analysis, sheet, {}), ".png"),
            .content_type = "image/png"};
  } catch (const Error& error) {
    fail_request(422, error.what());  // no such layer, head, token or class
  }
}

void draw(const ServedModel& model, Runner& runner, const patch::Image& image, Look& work) {
  const std::string& name = work.inputs.images.front().name;
  const ImageAnalysis analysis = analyze_decoded(model.classifier, runner, name, image);
  if (work.form == Form::kPicture) {
    work.reply = picture(model, analysis, work);
    return;
  }
  ExplorerInput explorer{.classifier = model.classifier,
                         .analysis = analysis,
                         .model = model.name,
                         .answers = analysis.predictions,
                         .relevance = {}};
  if (explains(model))
    explorer.relevance =
        relevance_of_answers(model.classifier, model.network(), analysis, analysis.predictions);
  if (work.form == Form::kPage)
    work.reply = {.body = explorer_page(explorer), .content_type = "text/html; charset=utf-8"};
  else
    work.reply = {.body = explorer_json(explorer) + "\n"};
}

void look(const ServedModel& model, const Context& context, Runner& runner, Look& work) {
  const patch::Image image = decode_input(work.inputs.images.front(), context.settings.pixels);
  if (work.labels.empty()) return draw(model, runner, image, work);
  const ModelPtr labelled = model.with_labels(work.labels);
  Runner own = labelled->classifier.runner();
  draw(*labelled, own, image, work);
}

}  // namespace

void answer_attention(const Call& call) {
  const Request& request = call.request();
  auto work = std::make_shared<Look>();
  work->exchange = call.exchange;
  work->inputs = read_inputs(request, 1);
  const Json& fields = work->inputs.fields;
  const ModelPtr model = call.context.models.find(setting(request, fields, "model").value_or(""));
  try {
    check_attention_size(model->classifier);
  } catch (const Error& error) {
    fail_request(422, error.what());
  }
  work->form = read_form(setting(request, fields, "format").value_or("png"));
  work->labels = read_labels(request, fields, call.context.settings.most_texts);
  if (!work->labels.empty()) model->need_words();
  if (const auto text = setting(request, fields, "class"); text && !text->empty())
    work->targets = {*text};
  work->method = choose_method(request, fields, *model, *work);
  work->map = read_map(request, fields);
  const Context context = call.context;
  run_images(call, {.model = model,
                    .count = 1,
                    .work = [=](size_t, Runner& runner) { look(*model, context, runner, *work); },
                    .reply =
                        [=](const std::vector<std::exception_ptr>& problems) {
                          if (problems.front()) std::rethrow_exception(problems.front());
                          return work->reply;
                        }});
}

}  // namespace vit::tools::serve
