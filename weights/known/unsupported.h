/// Families of image models that are known by name and are not supported, so that a message can
/// say what a checkpoint is instead of which tensor it lacks.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace vit::weights {

struct UnsupportedFamily {
  std::string_view name;     ///< "a Swin Transformer"
  std::string_view differs;  ///< what it has that the toolkit does not run
  std::string_view instead;  ///< a supported model of the catalogue that is close
  std::string_view timm;   ///< parts of timm's architecture names, separated by spaces; '^' begins
  std::string_view types;  ///< model_type of transformers, separated by spaces
  std::string_view tensors;  ///< parts of tensor names that only this family has
};

/// Null where nothing tells such a family.
const UnsupportedFamily* unsupported_architecture(std::string_view timm_name);
const UnsupportedFamily* unsupported_model_type(std::string_view model_type);
const UnsupportedFamily* unsupported_tensors(std::span<const std::string_view> names);

/// "a Swin Transformer (…), which is not supported; close to it is …", after "holds " or "names ".
std::string description_of(const UnsupportedFamily& family);

/// "a Swin Transformer (…), which is not supported; …" where a name of timm's, or of its
/// repositories, is that of such a family, else "".
std::string unsupported_name(std::string_view name);

}  // namespace vit::weights
