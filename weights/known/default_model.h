/// The bundled model.
#pragma once

#include <filesystem>
#include <span>

namespace vit::weights {

/// The model that is used if none is named: $VIT_MODEL if set, else the first of
/// default_model_places() that exists. Throws an Error that lists them if none does.
std::filesystem::path default_model();

/// Places of the bundled model, in the order of the search:
/// share/vit/default/ of the prefix that the running program is installed in, weights/default/ of
/// the sources that this library was built from, and of the prefix it was configured for.
std::span<const std::filesystem::path> default_model_places();

}  // namespace vit::weights
