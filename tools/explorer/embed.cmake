# cmake -DOUTPUT=… -DFOLDER=… -P embed.cmake: the page's parts as string literals in one source.
set(script "")
foreach(part unpack data state stage controls compare matrix plots save main)
  file(READ ${FOLDER}/${part}.js text)
  string(APPEND script "${text}\n")
endforeach()
file(READ ${FOLDER}/page.html page)
file(READ ${FOLDER}/style.css style)
file(WRITE ${OUTPUT}.next
"#include \"tools/explorer/parts.h\"

namespace vit::tools {

const std::string_view kExplorerPage = R\"vit(${page})vit\";
const std::string_view kExplorerStyle = R\"vit(${style})vit\";
const std::string_view kExplorerScript = R\"vit(${script})vit\";

}  // namespace vit::tools
")
file(RENAME ${OUTPUT}.next ${OUTPUT})
