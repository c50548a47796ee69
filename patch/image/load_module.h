/// Modules of the library that are loaded on demand.
#pragma once

#include <string>

namespace vit::patch {

/// The symbol of a module, which stays loaded. The file is found by the run path of the program:
/// the build gives one that leads to where the module was built or installed. Throws an Error that
/// starts with "cannot load `what`".
const void* load_module(const std::string& what, const char* file, const char* symbol);

}  // namespace vit::patch
