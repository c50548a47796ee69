/// Which names a pickle may mention.
#pragma once

#include <string_view>

namespace vit::weights {

/// True for functions that run programs, touch files or load code. Nothing is ever called here, but
/// a file that asks for them is an attack on those who load it with Python: its owner should know.
bool is_harmful(std::string_view module, std::string_view name);

}  // namespace vit::weights
