/// Repairs text as CLIP's authors did before they tokenized it (with the program ftfy).
#pragma once

#include <string>
#include <string_view>

namespace vit::text {

/// HTML references, UTF-8 that was read as Windows-1252, control characters, ligatures, full-width
/// forms, curly quotes, line breaks and terminal escapes; then NFC. Repeated until nothing changes.
/// Text that was wrongly decoded from other encodings than Windows-1252 stays as it is.
std::u32string repair_text(std::u32string_view text);

}  // namespace vit::text
