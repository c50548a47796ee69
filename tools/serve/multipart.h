/// Bodies of the type multipart/form-data (RFC 7578).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace vit::tools::serve {

struct FormPart {
  std::string name;
  std::string file_name;     ///< empty if the part has none
  bool is_file = false;      ///< it has a file name or a type that is not text
  std::string_view content;  ///< of the body
};

/// The boundary in a Content-Type header; empty if there is none.
std::string form_boundary(std::string_view content_type);

/// The parts of a body, which must outlive them. Throws a StatusError (400) that says what is
/// wrong, or 413 if there are more than `most_parts`.
std::vector<FormPart> parse_form(std::string_view body, std::string_view boundary,
                                 size_t most_parts);

}  // namespace vit::tools::serve
