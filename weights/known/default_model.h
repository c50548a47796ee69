/// The model that comes with the toolkit.
#pragma once

#include <filesystem>
#include <span>

namespace vit::weights {

/// What is meant where no model is named: $VIT_MODEL where it is set, as it is; else the first of
/// default_model_places() that is there. Throws an Error that names them if none is.
std::filesystem::path default_model();

/// Where the model in the box may lie, in the order in which it is looked for:
/// share/vit/default/ of the prefix that the running program is installed in, weights/default/ of
/// the sources that this library was built from, and of the prefix it was configured for.
std::span<const std::filesystem::path> default_model_places();

}  // namespace vit::weights
