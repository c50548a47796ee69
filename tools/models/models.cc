#include "tools/models/models.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/output/format.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"
#include "weights/known/catalogue.h"
#include "weights/store.h"

namespace vit::tools {
namespace {

using weights::CatalogueModel;

constexpr std::string_view kExamples =
    "  vit models\n"
    "  vit models dinov2\n"
    "  vit models --pulled\n";

void add_options(cxxopts::Options& options) {
  options.add_options("", {
                              {"pulled", "only those in the cache"},
                              {"json", "one JSON document instead of text"},
                          });
}

struct Row {
  CatalogueModel model;  ///< the name alone where the catalogue does not know it
  std::optional<weights::PulledModel> pulled;
};

/// The catalogue, and after it what was pulled from elsewhere or at another revision.
std::vector<Row> rows_with(const std::string& part, bool only_pulled) {
  std::vector<weights::PulledModel> pulled = weights::pulled_models();
  std::vector<Row> rows;
  for (const auto& model : weights::catalogue()) {
    const auto found = std::ranges::find_if(pulled, [&](const weights::PulledModel& one) {
      return one.hub == model.hub && one.revision == "main";
    });
    Row row{model, {}};
    if (found != pulled.end()) {
      row.pulled = *found;
      pulled.erase(found);
    }
    rows.push_back(std::move(row));
  }
  for (const auto& one : pulled) {
    CatalogueModel other;
    other.name = one.hub + (one.revision == "main" ? "" : "@" + one.revision);
    other.hub = one.hub;
    rows.push_back({other, one});
  }
  std::erase_if(rows, [&](const Row& row) {
    const bool named = row.model.name.find(part) != std::string::npos ||
                       row.model.hub.find(part) != std::string::npos;
    return !named || (only_pulled && !row.pulled);
  });
  return rows;
}

std::string right(const std::string& text, size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string text_of(const std::vector<Row>& rows) {
  size_t width = 4;
  for (const auto& row : rows) width = std::max(width, display_width(printable(row.model.name)));
  std::string text =
      fit("name", width) + "  parameters  input  classes  repository [downloaded size]\n";
  for (const auto& [model, pulled] : rows) {
    const bool known = !model.architecture.empty();
    text += fit(printable(model.name), width);
    text += right(known ? formatted("%.1f M", static_cast<double>(parameters_of(model)) / 1e6) : "",
                  12);
    text += right(known ? std::to_string(model.image_size) : "", 7);
    text += right(known && model.classes != 0 ? std::to_string(model.classes) : "-", 9);
    text += "  " + printable(model.hub);
    if (pulled) text += "  [" + format_bytes(pulled->bytes()) + "]";
    text += '\n';
  }
  return text;
}

std::string json_of(const std::vector<Row>& rows) {
  nlohmann::ordered_json json;
  json["cache"] = weights::cache_folder().string();
  json["models"] = nlohmann::ordered_json::array();
  for (const auto& [model, pulled] : rows) {
    nlohmann::ordered_json row{{"name", model.name}, {"hub", model.hub}};
    if (!model.architecture.empty()) {
      row["architecture"] = model.architecture;
      row["parameters"] = parameters_of(model);
      row["image_size"] = model.image_size;
      row["classes"] = model.classes;
    }
    row["pulled"] = nullptr;
    if (pulled)
      row["pulled"] = {{"revision", pulled->revision},
                       {"commit", pulled->commit},
                       {"bytes", pulled->bytes()},
                       {"folder", weights::model_folder(pulled->hub, pulled->revision).string()}};
    json["models"].push_back(std::move(row));
  }
  using Handler = nlohmann::ordered_json::error_handler_t;
  return json.dump(1, ' ', false, Handler::replace) + "\n";
}

int run(const cxxopts::ParseResult& arguments) {
  const auto& operands = arguments.unmatched();
  const std::string part = operands.empty() ? "" : operands.front();
  const auto rows = rows_with(part, arguments.count("pulled") != 0);
  if (arguments.count("json")) {
    write_output(json_of(rows));
    return 0;
  }
  if (rows.empty() && !part.empty()) fail("no model has '", part, "' in its name");
  write_output(text_of(rows));
  return 0;
}

}  // namespace

Command models_command() {
  return {.name = "models",
          .summary = "list the models that can be pulled, and those that are",
          .description = "List the models that 'vit pull' knows by name, and those pulled.",
          .usage = "[PART OF A NAME] [OPTION...]",
          .examples = kExamples,
          .operands = {.most = 1, .noun = "part", .expected = "one part of a name"},
          .add_options = add_options,
          .run = run};
}

}  // namespace vit::tools
