#include "tools/models/models.h"

#include "tools/cli/options.h"
#include "tools/models/selection.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"

namespace vit::tools {
namespace {

constexpr std::string_view kExamples =
    "  vit models\n"
    "  vit models --max-gmacs 7 --sort top1\n"
    "  vit models --family dinov2\n"
    "  vit models patch16_224 --min-top1 80 --sort params\n"
    "  vit models --pulled\n";

void add_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "",
      {
          {"family", "models of one family: deit3, dinov2, clip, …", text(), "NAME"},
          {"max-gmacs", "most multiply-adds per image, in billions (GMACs)", text(), "X"},
          {"max-params", "most parameters, in millions", text(), "X"},
          {"min-top1", "least published top-1 accuracy on ImageNet-1k, in percent", text(), "X"},
          {"sort", "order: name, top1 (best first), gmacs or params (smallest first)", text(),
           "KEY"},
          {"pulled", "only those in the cache"},
          {"json", "one JSON document instead of text"},
      });
}

std::string right(const std::string& text, size_t width) {
  return std::string(width - std::min(width, display_width(text)), ' ') + text;
}

std::string percent(double value) {
  return formatted("%.1f", value);
}

std::string gmacs_text(const ListedModel& row) {
  return formatted(row.gmacs() < 10 ? "%.2f" : "%.1f", row.gmacs());
}

std::string parameters_text(const ListedModel& row) {
  return formatted("%.1f M", static_cast<double>(row.parameters) / 1e6);
}

std::string output_text(const ListedModel& row) {
  if (row.model.classes != 0) return std::to_string(row.model.classes) + " classes";
  if (row.model.embedding != 0) return "embedding " + std::to_string(row.model.embedding);
  return "features " + std::to_string(row.features);
}

std::string text_of(const std::vector<ListedModel>& rows) {
  size_t width = 4;
  for (const auto& row : rows) width = std::max(width, display_width(printable(row.model.name)));
  std::string text = fit("name", width) +
                     "  top-1   GMACs  parameters  input  output          "
                     "repository [downloaded size]\n";
  for (const auto& row : rows) {
    text += fit(printable(row.model.name), width);
    text += right(row.model.top1 ? percent(*row.model.top1) : "-", 7);
    text += right(row.known() ? gmacs_text(row) : "", 8);
    text += right(row.known() ? parameters_text(row) : "", 12);
    text += right(row.known() ? std::to_string(row.model.image_size) : "", 7);
    text += "  " + fit(row.known() ? output_text(row) : "", 14);
    text += "  " + printable(row.model.hub);
    if (row.pulled) text += "  [" + format_bytes(row.pulled->bytes()) + "]";
    text += '\n';
  }
  return text;
}

std::string recommendation_text(const std::vector<ListedModel>& rows) {
  std::string text;
  for (const auto& [word, reason, row] : recommended(rows))
    text += fit(word, 8) + "  " + row->model.name + ": " + percent(*row->model.top1) +
            " % top-1, " + gmacs_text(*row) + " GMACs, " + parameters_text(*row) + " parameters; " +
            std::string(reason) + "\n";
  return text.empty() ? text : "\n" + text;
}

Json json_of(const ListedModel& row) {
  Json json;
  json["name"] = row.model.name;
  json["hub"] = row.model.hub;
  if (row.known()) {
    json["architecture"] = row.model.architecture;
    json["family"] = family_of(row.model);
    json["top1"] = row.model.top1 ? Json(*row.model.top1) : Json();
    json["multiply_adds"] = row.multiply_adds;
    json["parameters"] = row.parameters;
    json["image_size"] = row.model.image_size;
    json["classes"] = row.model.classes;
    json["embedding"] = row.model.embedding;
    json["features"] = row.features;
  }
  json["pulled"] = nullptr;
  if (const auto& pulled = row.pulled) {
    json["pulled"]["revision"] = pulled->revision;
    json["pulled"]["commit"] = pulled->commit;
    json["pulled"]["bytes"] = pulled->bytes();
    json["pulled"]["folder"] = pulled->folder.string();
  }
  return json;
}

std::string json_of(const std::vector<ListedModel>& rows) {
  Json json;
  json["cache"] = weights::cache_folder().string();
  json["recommended"] = Json::object();
  for (const auto& [word, reason, row] : recommended(rows))
    json["recommended"][std::string(word)] = row->model.name;
  json["models"] = Json::array();
  for (const auto& row : rows) json["models"].push_back(json_of(row));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Selection selection_of(const cxxopts::ParseResult& arguments) {
  Selection selection;
  const auto& operands = arguments.unmatched();
  if (!operands.empty()) selection.part = operands.front();
  selection.only_pulled = arguments.count("pulled") != 0;
  const auto number = [&](const char* name) -> std::optional<double> {
    if (!arguments.count(name)) return {};
    return parse_positive("--" + std::string(name), arguments[name].as<std::string>());
  };
  selection.most_gmacs = number("max-gmacs");
  selection.most_millions = number("max-params");
  selection.least_top1 = number("min-top1");
  if (arguments.count("family")) {
    std::vector<std::pair<std::string_view, std::string_view>> choices;
    for (const auto name : weights::families()) choices.emplace_back(name, name);
    selection.family =
        parse_choice<std::string_view>("--family", arguments["family"].as<std::string>(), choices);
  }
  if (arguments.count("sort"))
    selection.order = parse_choice<ModelOrder>("--sort", arguments["sort"].as<std::string>(),
                                               {{"name", ModelOrder::kName},
                                                {"top1", ModelOrder::kTop1},
                                                {"gmacs", ModelOrder::kGmacs},
                                                {"params", ModelOrder::kParameters}});
  return selection;
}

int run(const cxxopts::ParseResult& arguments) {
  const Selection selection = selection_of(arguments);
  const auto rows = select(selection);
  if (arguments.count("json")) {
    write_output(json_of(rows));
    return 0;
  }
  if (rows.empty() && selection.filters())
    fail("no model meets all conditions; without them there are ", weights::catalogue().size());
  if (rows.empty() && !selection.part.empty())
    fail("no model has '", selection.part, "' in its name");
  if (rows.empty() && selection.only_pulled) {
    write_message("no model is pulled into " + weights::cache_folder().string() +
                  "; 'vit pull NAME' fetches one, 'vit models' lists the names");
    return 0;
  }
  write_output(text_of(rows) + recommendation_text(rows));
  return 0;
}

}  // namespace

Command models_command() {
  return {.name = "models",
          .summary = "list the models that can be pulled, and help to choose one",
          .description =
              "List the models that 'vit pull' knows by name, and those pulled: published "
              "top-1 accuracy on ImageNet-1k, multiply-adds per image (GMACs), "
              "parameters, input size. The last lines recommend a small, a balanced and "
              "the best of the listed models with published accuracy.",
          .usage = "[PART OF A NAME] [OPTION...]",
          .examples = kExamples,
          .operands = {.most = 1, .noun = "part", .expected = "one part of a name"},
          .add_options = add_options,
          .run = run};
}

}  // namespace vit::tools
