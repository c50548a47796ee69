# cmake -DOUTPUT=… -DFOLDER=… -P embed.cmake: the page and the OpenAPI description as string literals in one source.
file(READ ${FOLDER}/page/page.html page)
file(READ ${FOLDER}/page/page.css style)
file(READ ${FOLDER}/page/page.js script)
file(READ ${FOLDER}/openapi.json openapi)
file(WRITE ${OUTPUT}.next
"#include \"tools/serve/page_parts.h\"

namespace vit::tools::serve {

const std::string_view kPage = R\"vit(${page})vit\";
const std::string_view kPageStyle = R\"vit(${style})vit\";
const std::string_view kPageScript = R\"vit(${script})vit\";
const std::string_view kOpenApi = R\"vit(${openapi})vit\";

}  // namespace vit::tools::serve
")
file(RENAME ${OUTPUT}.next ${OUTPUT})
