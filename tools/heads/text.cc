#include <nlohmann/json.hpp>

#include "tools/draw/heatmap.h"
#include "tools/heads/output.h"
#include "tools/output/format.h"
#include "tools/output/unicode.h"

namespace vit::tools {
namespace {

using Json = nlohmann::ordered_json;
using interpret::HeadSummary;

constexpr size_t kPatternWidth = 20;

/// Importance is empty if it was not measured.
std::string measured(size_t images, const char* format, double value) {
  return images == 0 ? "-" : formatted(format, value);
}

std::string table_line(const HeadReport& report, const HeadSummary& head) {
  const std::string pattern = interpret::describe(head.pattern, report.layout);
  std::string line = padded(head_name(head.id), 6);
  line += padded(formatted("%.1f", head.distance), 11);
  line += padded(formatted("%.2f", head.entropy), 9);
  line += padded(format_percent(head.prefix_mass, 1), 9);
  line += "  " + fit(pattern, kPatternWidth) + padded(formatted("%.2f", head.pattern.score), 5);
  line += padded(measured(report.disabled_images, "%.4f", head.divergence), 10);
  line += padded(report.disabled_images == 0 ? "-" : format_percent(head.flips, 1), 8);
  line += padded(measured(report.estimated, "%.4f", head.estimate), 10);
  const std::string notes = notes_on(report, head);
  return line + (notes.empty() ? "" : "  " + notes) + "\n";
}

std::string images_text(size_t count) {
  return std::to_string(count) + (count == 1 ? " image" : " images");
}

}  // namespace

std::string head_name(const HeadId& id) {
  return std::to_string(id.layer) + ":" + std::to_string(id.head);
}

std::string notes_on(const HeadReport& report, const HeadSummary& head) {
  std::string notes = head.dead ? "dead" : "";
  for (const auto& pair : report.duplicates) {
    if (pair.first != head.id && pair.second != head.id) continue;
    const HeadId& other = pair.first == head.id ? pair.second : pair.first;
    notes += (notes.empty() ? "like " : ", like ") + head_name(other);
  }
  return notes;
}

std::string heads_table(const NamedReport& named) {
  const HeadReport& report = named.report;
  std::string text = printable(named.model) + ": " + std::to_string(report.layers) + " layers of " +
                     std::to_string(report.heads) + " heads, " + images_text(report.images) +
                     ", importance measured on " + std::to_string(report.disabled_images) + "\n\n";
  text +=
      "  head   distance  entropy   prefix  pattern             score        KL   top-1  "
      "estimate\n";
  text += "             (px)   (bits)                                        without  changed\n";
  for (const HeadSummary& head : report.summaries) text += table_line(report, head);
  return text;
}

std::string heads_csv(const NamedReport& named) {
  const HeadReport& report = named.report;
  std::string text =
      "layer,head,distance_px,entropy_bits,prefix_mass,pattern,pattern_score,kl,top1_changed,"
      "largest_change,estimate,dead,duplicates\n";
  for (const HeadSummary& head : report.summaries) {
    const auto number = [](double value) { return "," + formatted("%.6g", value); };
    const auto known = [&](size_t images, double value) {
      return images == 0 ? std::string(",") : number(value);
    };
    std::string like;
    for (const auto& pair : report.duplicates)
      if (pair.first == head.id || pair.second == head.id)
        like +=
            (like.empty() ? "" : " ") + head_name(pair.first == head.id ? pair.second : pair.first);
    text += std::to_string(head.id.layer) + "," + std::to_string(head.id.head);
    text += number(head.distance) + number(head.entropy) + number(head.prefix_mass);
    text += ",\"" + interpret::describe(head.pattern, report.layout) + "\"";
    text += number(head.pattern.score) + known(report.disabled_images, head.divergence) +
            known(report.disabled_images, head.flips) + known(report.disabled_images, head.change) +
            known(report.estimated, head.estimate);
    text += std::string(head.dead ? ",true," : ",false,") + like + "\n";
  }
  return text;
}

std::string heads_json(const NamedReport& named) {
  const HeadReport& report = named.report;
  Json json{{"model", named.model},
            {"layers", report.layers},
            {"heads_per_layer", report.heads},
            {"images", report.images},
            {"images_with_heads_disabled", report.disabled_images},
            {"skipped", Json(named.skipped.counts())},
            {"heads", Json::array()},
            {"duplicates", Json::array()}};
  for (const HeadSummary& head : report.summaries) {
    Json one{{"layer", head.id.layer},
             {"head", head.id.head},
             {"distance_px", head.distance},
             {"entropy_bits", head.entropy},
             {"prefix_mass", head.prefix_mass},
             {"pattern",
              {{"kind", to_string(head.pattern.kind)},
               {"name", interpret::describe(head.pattern, report.layout)},
               {"score", head.pattern.score}}}};
    if (report.disabled_images != 0) {
      one["kl"] = head.divergence;
      one["top1_changed"] = head.flips;
      one["largest_change"] = head.change;
      one["dead"] = head.dead;
    }
    if (report.estimated != 0) one["estimate"] = head.estimate;
    json["heads"].push_back(std::move(one));
  }
  for (const auto& pair : report.duplicates)
    json["duplicates"].push_back({{"first", head_name(pair.first)},
                                  {"second", head_name(pair.second)},
                                  {"similarity", pair.similarity}});
  return json.dump(1) + "\n";
}

}  // namespace vit::tools
