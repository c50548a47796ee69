#include "tools/draw/contact_sheet.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "tools/draw/thumbnail.h"
#include "tools/output/html.h"
#include "tools/output/reason.h"

namespace vit::tools {
namespace {

/// The folder that all pictures lie in, with its slash; empty: none.
std::string common_folder(const ContactSheet& sheet) {
  std::optional<std::string> common;
  for (const auto& group : sheet.groups)
    for (const auto& picture : group.pictures) {
      const std::string& path = picture.path;
      if (!common) common = path;
      size_t same = 0;
      while (same < common->size() && same < path.size() && (*common)[same] == path[same]) ++same;
      common->resize(same);
    }
  if (!common) return {};
  const size_t slash = common->rfind('/');
  return slash == common->npos ? "" : common->substr(0, slash + 1);
}

/// The small picture, linked to the file; or why there is none.
std::string image_html(const SheetPicture& picture, const std::string& name,
                       const LoadPicture& load) {
  const auto reason = [](const std::string& text) {
    return "<div class=\"none\">" + page_text(text) + "</div>";
  };
  try {
    const std::string image = "<img loading=\"lazy\" alt=\"" + name + "\" src=\"" +
                              data_url(thumbnail(load(picture.path))) + "\">";
    if (picture.link.empty()) return image;
    return "<a href=\"" + html_escaped(picture.link) + "\" aria-label=\"open " + name + "\">" +
           image + "</a>";
  } catch (const std::exception& error) {
    return reason(reason_of(error, picture.path));
  }
}

/// `folder` is that of all pictures.
std::string picture_html(const SheetPicture& picture, size_t folder, const LoadPicture& load) {
  const std::string name = page_text(picture.path.substr(folder));
  std::string html = "<li title=\"" + page_text(picture.path) + "\">" +
                     image_html(picture, name, load) + "<div class=\"name\">" + name + "</div><p>";
  if (!picture.badge.empty())
    html += "<span class=\"badge\">" + page_text(picture.badge) + "</span> ";
  if (!picture.figure.empty()) html += "<b>" + page_text(picture.figure) + "</b> ";
  return html + page_text(picture.detail) + "</p></li>\n";
}

}  // namespace

std::string contact_sheet_html(const ContactSheet& sheet, const LoadPicture& load,
                               ThreadPool& pool) {
  std::vector<const SheetPicture*> pictures;
  for (const auto& group : sheet.groups)
    for (const auto& picture : group.pictures) pictures.push_back(&picture);
  const std::string folder = common_folder(sheet);
  std::vector<std::string> parts(pictures.size());
  parallel_for(&pool, pictures.size(), [&](size_t i, size_t) {
    parts[i] = picture_html(*pictures[i], folder.size(), load);
  });
  const std::string title = page_text(sheet.title);
  std::string body = "<h1>" + title + "</h1>\n<p>" + page_text(sheet.note) + "</p>\n";
  if (!folder.empty()) body += "<p>Names are those in " + page_text(folder) + "</p>\n";
  auto part = parts.begin();
  for (const auto& group : sheet.groups) {
    body += "<section><h2>" + page_text(group.title) + "</h2><p>" + page_text(group.note) +
            "</p>\n<ul>\n";
    for (size_t i = 0; i < group.pictures.size(); ++i) body += *part++;
    body += "</ul></section>\n";
  }
  return html_page({.title = title, .style = kSheetStyle, .body = std::move(body)});
}

}  // namespace vit::tools
