#include "tools/duplicates/output.h"

#include <algorithm>

#include "tools/indexed/report.h"
#include "tools/output/csv.h"
#include "tools/output/format.h"
#include "tools/output/unicode.h"

namespace vit::tools {
namespace {

/// Pictures of one group on the page: there may be thousands of copies of an icon.
constexpr size_t kMostPictures = 24;

std::string line_of(const index::Entry& entry, const GroupMember& member, const char* start) {
  return start + formatted("%.4f", double{member.score}) + "  " +
         printable(shown_path(entry.path)) + "  (" + size_text(entry) + "; " + member.reason +
         ")\n";
}

std::string csv_line(const DuplicatesReport& report, size_t group, const GroupMember& member,
                     const char* proposal) {
  return std::to_string(group) + "," + proposal + "," + formatted("%.6f", double{member.score}) +
         "," + csv_field(member.reason) + "," + entry_csv(report.index.entries[member.row]) + "\n";
}

Json json_of(const DuplicatesReport& report, const GroupMember& member) {
  Json json;
  add_entry(report.index.entries[member.row], json);
  json["score"] = member.score;
  json["reason"] = member.reason;
  return json;
}

SheetPicture picture_of(const DuplicatesReport& report, const GroupMember& member) {
  SheetPicture picture = sheet_picture(report.index.entries[member.row], member.score);
  picture.detail += "; " + member.reason;
  return picture;
}

}  // namespace

std::string duplicates_summary(const Duplicates& found) {
  std::string text = count_of(found.images, "image", "images") + ", " +
                     count_of(found.groups.size(), "group", "groups") + " of duplicates";
  if (!found.groups.empty())
    text += ", " + count_of(found.others, "image", "images") + " (" + format_bytes(found.bytes) +
            ") that could go";
  return text;
}

std::string duplicates_text(const DuplicatesReport& report) {
  std::string text;
  for (size_t g = 0; g < report.found.groups.size(); ++g) {
    const ImageGroup& group = report.found.groups[g];
    text += (g == 0 ? "" : "\n") + std::string("group ") + std::to_string(g + 1) + "\n";
    text += line_of(report.index.entries[group.kept.row], group.kept, "  keep  ");
    for (const auto& member : group.others)
      text += line_of(report.index.entries[member.row], member, "        ");
  }
  return text;
}

std::string duplicates_csv(const DuplicatesReport& report) {
  std::string text = "group,proposal,score,reason," + std::string(kEntryColumns) + "\n";
  for (size_t g = 0; g < report.found.groups.size(); ++g) {
    const ImageGroup& group = report.found.groups[g];
    text += csv_line(report, g + 1, group.kept, "keep");
    for (const auto& member : group.others) text += csv_line(report, g + 1, member, "duplicate");
  }
  return text;
}

Json duplicates_json(const DuplicatesReport& report) {
  Json all;
  all["index"] = report.path.string();
  all["threshold"] = report.threshold;
  all["images"] = report.found.images;
  all["duplicates"] = report.found.others;
  all["duplicate_bytes"] = report.found.bytes;
  all["groups"] = Json::array();
  for (const auto& group : report.found.groups) {
    Json one;
    one["keep"] = json_of(report, group.kept);
    one["duplicates"] = Json::array();
    for (const auto& member : group.others) one["duplicates"].push_back(json_of(report, member));
    all["groups"].push_back(std::move(one));
  }
  return all;
}

ContactSheet duplicates_sheet(const DuplicatesReport& report, size_t groups) {
  const auto& found = report.found;
  groups = std::min(groups, found.groups.size());
  ContactSheet sheet;
  sheet.title = "Duplicates in " + report.path.filename().string();
  sheet.note = duplicates_summary(found) + "; nothing was deleted. The number is the cosine " +
               "similarity with the image to keep, at least " +
               formatted("%g", double{report.threshold}) + ".";
  if (groups < found.groups.size())
    sheet.note += " This page has the first " + format_count(groups) +
                  " groups; a .csv or .json file has all.";
  for (size_t g = 0; g < groups; ++g) {
    const ImageGroup& group = found.groups[g];
    SheetGroup shown;
    shown.title = "Group " + std::to_string(g + 1);
    shown.note = count_of(group.others.size(), "duplicate", "duplicates");
    shown.pictures.push_back(picture_of(report, group.kept));
    shown.pictures.back().badge = "keep";
    shown.pictures.back().figure.clear();
    const size_t most = std::min(kMostPictures, group.others.size());
    for (size_t i = 0; i < most; ++i) shown.pictures.push_back(picture_of(report, group.others[i]));
    if (most < group.others.size())
      shown.note += ", the first " + std::to_string(most) + " are shown";
    sheet.groups.push_back(std::move(shown));
  }
  return sheet;
}

}  // namespace vit::tools
