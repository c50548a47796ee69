/// Text files of the folder data, compiled in so that an installed copy needs no data files.
#pragma once

#include <string_view>

namespace vit::text::resources {

extern const std::string_view kHtmlEntities;  ///< html_entities.txt

}  // namespace vit::text::resources
