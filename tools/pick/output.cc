#include "tools/pick/output.h"

#include "tools/indexed/report.h"
#include "tools/output/csv.h"
#include "tools/output/unicode.h"

namespace vit::tools {
namespace {

bool by_doubt(const PickReport& report) {
  return report.by == PickBy::kUncertain;
}

const char* score_name(const PickReport& report) {
  return by_doubt(report) ? "uncertainty" : "similarity";
}

}  // namespace

std::string pick_text(const PickReport& report) {
  std::string text;
  for (const auto& pick : report.picks) {
    text += found_line(report.index.entries[pick.row], pick.score);
    text += pick.guesses.empty() ? "\n" : "  (" + printable(pick.guesses) + ")\n";
  }
  return text;
}

std::string pick_csv(const PickReport& report) {
  std::string text = "rank," + std::string(score_name(report)) + "," + std::string(kEntryColumns) +
                     (by_doubt(report) ? ",guesses\n" : "\n");
  for (size_t i = 0; i < report.picks.size(); ++i) {
    const Pick& pick = report.picks[i];
    text += found_csv(i + 1, report.index.entries[pick.row], pick.score);
    text += by_doubt(report) ? "," + csv_field(pick.guesses) + "\n" : "\n";
  }
  return text;
}

Json pick_json(const PickReport& report) {
  Json all;
  all["index"] = report.path.string();
  all["by"] = by_doubt(report) ? "uncertainty" : "diversity";
  all["images"] = Json::array();
  for (const auto& pick : report.picks) {
    Json one = found_json(report.index.entries[pick.row], score_name(report), pick.score);
    if (by_doubt(report)) one["guesses"] = pick.guesses;
    all["images"].push_back(std::move(one));
  }
  return all;
}

ContactSheet pick_sheet(const PickReport& report) {
  ContactSheet sheet;
  sheet.title = "Images of " + report.path.filename().string() + " to label next";
  sheet.note = by_doubt(report)
                   ? "The number is how unsure the classifier is: 1 minus the margin between its "
                     "two best classes."
                   : "The number is the largest cosine similarity to an image that is labelled or "
                     "picked before; of the first one, to the mean of all.";
  SheetGroup group;
  group.title = by_doubt(report) ? "Most uncertain" : "Most diverse";
  group.note = count_of(report.picks.size(), "image", "images");
  for (const auto& pick : report.picks) {
    group.pictures.push_back(sheet_picture(report.index.entries[pick.row], pick.score));
    if (!pick.guesses.empty()) group.pictures.back().detail = pick.guesses;
  }
  sheet.groups.push_back(std::move(group));
  return sheet;
}

}  // namespace vit::tools
