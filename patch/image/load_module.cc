#include "patch/image/load_module.h"

#include <dlfcn.h>

#include "vit/base/error.h"

namespace vit::patch {

const void* load_module(const std::string& what, const char* file, const char* symbol) {
  void* module = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr)
    fail("cannot load ", what, ": ", dlerror(), "; ", file,
         " is installed with vit and must be in its lib folder or on LD_LIBRARY_PATH");
  const void* found = dlsym(module, symbol);
  if (found == nullptr) fail("cannot use ", what, ": ", dlerror());
  return found;
}

}  // namespace vit::patch
