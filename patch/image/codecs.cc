#include "patch/image/codecs.h"

#include <dlfcn.h>

#include "vit/base/error.h"

namespace vit::patch {
namespace {

/// Found by the run path of the program: the build gives one that leads to where the module was
/// built or installed.
const void* load_module(const char* file, const char* symbol_name) {
  void* module = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr)
    fail("the image codecs are not there: ", dlerror(), "; ", file,
         " is installed with vit and belongs into its lib folder or on LD_LIBRARY_PATH");
  const void* symbol = dlsym(module, symbol_name);
  if (symbol == nullptr) fail("the image codecs are broken: ", dlerror());
  return symbol;
}

}  // namespace

// A load that failed is tried again.
const Decoders& decoders() {
  static const auto* const loaded =
      static_cast<const Decoders*>(load_module(VIT_DECODERS_MODULE, kDecodersSymbol));
  return *loaded;
}

const Encoders& encoders() {
  static const auto* const loaded =
      static_cast<const Encoders*>(load_module(VIT_ENCODERS_MODULE, kEncodersSymbol));
  return *loaded;
}

}  // namespace vit::patch
