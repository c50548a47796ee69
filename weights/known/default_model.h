/// The bundled model.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace vit::weights {

/// The value of $VIT_MODEL, which stands for the model where none is named; empty: the bundled one
/// does.
std::string model_of_environment();

/// The first of default_model_places() that exists. Throws an Error that lists them if none does.
std::filesystem::path bundled_model();

/// Places of the bundled model, in the order of the search: share/vit/default/ of the prefix that
/// the running program is installed in, and of the prefix of the library that it was linked to, as
/// its RPATH tells; weights/default/ of the sources that this library was built from, and
/// share/vit/default/ of the prefix that it was configured for.
std::span<const std::filesystem::path> default_model_places();

}  // namespace vit::weights
