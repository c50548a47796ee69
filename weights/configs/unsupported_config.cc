#include "weights/configs/config_files.h"
#include "weights/known/unsupported.h"

namespace vit::weights {

std::string unsupported_in(const Fields& file) {
  const UnsupportedFamily* family = nullptr;
  std::string name;
  if (file.has("architecture"))
    family = unsupported_architecture(name = file.text("architecture").value_or(""));
  else if (file.has("model_type"))
    family = unsupported_model_type(name = file.text("model_type").value_or(""));
  return family == nullptr ? "" : "'" + name + "' is " + description_of(*family);
}

}  // namespace vit::weights
