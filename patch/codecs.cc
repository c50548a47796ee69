#include "patch/codecs.h"

#include <dlfcn.h>

#include "vit/base/error.h"

namespace vit::patch {
namespace {

/// Found by the run path of the program: the build gives one that leads to where the module was
/// built or installed.
const Codecs* load_module() {
  void* module = dlopen(VIT_CODECS_MODULE, RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr)
    fail("the image codecs are not there: ", dlerror(), "; ", VIT_CODECS_MODULE,
         " is installed with vit and belongs into its lib folder or on LD_LIBRARY_PATH");
  const void* symbol = dlsym(module, kCodecsSymbol);
  if (symbol == nullptr) fail("the image codecs are broken: ", dlerror());
  return static_cast<const Codecs*>(symbol);
}

}  // namespace

const Codecs& codecs() {
  static const Codecs* const loaded = load_module();  // tried again if it failed
  return *loaded;
}

}  // namespace vit::patch
