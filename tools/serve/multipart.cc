#include "tools/serve/multipart.h"

#include <algorithm>
#include <optional>

#include "tools/serve/status_error.h"
#include "vit/base/text.h"

namespace vit::tools::serve {
namespace {

constexpr size_t kHeaderBytes = 8 << 10;  ///< of one part
constexpr size_t kBoundaryLength = 70;    ///< RFC 2046

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Takes "text;" or the rest off the front; a ';' inside quotation marks does not end it.
std::string_view take_parameter(std::string_view& text) {
  bool quoted = false;
  size_t end = 0;
  for (; end < text.size() && (quoted || text[end] != ';'); ++end) {
    if (quoted && text[end] == '\\' && end + 1 < text.size())
      ++end;
    else if (text[end] == '"')
      quoted = !quoted;
  }
  end = std::min(end, text.size());
  const std::string_view taken = trimmed(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

std::string unquoted(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::string(text);
  text = text.substr(1, text.size() - 2);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    // Browsers escape a quotation mark as %22; others write \" for it.
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '"') ++i;
    out += text[i];
  }
  return out;
}

/// The value of `name` among the parameters of a header such as 'form-data; name="a"'.
std::optional<std::string> parameter(std::string_view header, std::string_view name) {
  take_parameter(header);
  while (!header.empty()) {
    const std::string_view one = take_parameter(header);
    const size_t equals = one.find('=');
    if (equals != one.npos && lower(trimmed(one.substr(0, equals))) == name)
      return unquoted(trimmed(one.substr(equals + 1)));
  }
  return std::nullopt;
}

void read_header(std::string_view line, FormPart& part) {
  const size_t colon = line.find(':');
  if (colon == line.npos) fail_request(400, "multipart body: a header of a part has no ':'");
  const std::string name = lower(trimmed(line.substr(0, colon)));
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (name == "content-disposition") {
    part.name = parameter(value, "name").value_or("");
    if (auto file = parameter(value, "filename")) {
      part.file_name = std::move(*file);
      part.is_file = true;
    }
  } else if (name == "content-type") {
    part.is_file = part.is_file || !lower(value).starts_with("text/");
  }
}

/// Splits headers from content.
FormPart read_part(std::string_view text) {
  FormPart part;
  while (true) {
    const size_t end = text.substr(0, kHeaderBytes).find("\r\n");
    if (end == text.npos)
      fail_request(400, "multipart body: the headers of a part have no end within ", kHeaderBytes,
                   " bytes");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 2);
    if (line.empty()) break;
    read_header(line, part);
  }
  part.content = text;
  return part;
}

}  // namespace

std::string form_boundary(std::string_view content_type) {
  const std::string boundary = parameter(content_type, "boundary").value_or("");
  return boundary.size() <= kBoundaryLength ? boundary : std::string();
}

std::vector<FormPart> parse_form(std::string_view body, std::string_view boundary,
                                 size_t most_parts) {
  if (boundary.empty())
    fail_request(400, "multipart body: the Content-Type header has no boundary of 1 to ",
                 kBoundaryLength, " characters");
  const std::string delimiter = "\r\n--" + std::string(boundary);
  // The first delimiter is at the very beginning, or after lines that are ignored.
  if (body.starts_with(std::string_view(delimiter).substr(2)))
    body.remove_prefix(delimiter.size() - 2);
  else if (const size_t at = body.find(delimiter); at != body.npos)
    body.remove_prefix(at + delimiter.size());
  else
    fail_request(400, "multipart body: its boundary is not in it");
  std::vector<FormPart> parts;
  while (!body.starts_with("--")) {
    const size_t line_end = body.find_first_not_of(" \t");
    if (line_end == body.npos || !body.substr(line_end).starts_with("\r\n"))
      fail_request(400, "multipart body: no line end after a boundary");
    body.remove_prefix(line_end + 2);
    const size_t end = body.find(delimiter);
    if (end == body.npos) fail_request(400, "multipart body: it is cut short");
    if (parts.size() == most_parts)
      fail_request(413, "multipart body: more than ", most_parts, " parts");
    parts.push_back(read_part(body.substr(0, end)));
    body.remove_prefix(end + delimiter.size());
  }
  return parts;
}

}  // namespace vit::tools::serve
