/// One file into one folder: as a copy, as a link, or moved. Nothing that exists is replaced.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tools/inputs/inputs.h"
#include "vit/base/error.h"

namespace vit::tools {

/// A label made fit for a file system: no separators, no control characters, not hidden.
std::string folder_name(std::string_view label);

/// The file of a row cannot be read, although its target can be written.
class Unreadable : public Error {
 public:
  using Error::Error;
};

/// The two names that an input may get in a folder: its own, and, if another file has that, one
/// with a hash of its path.
struct PlaceNames {
  std::filesystem::path own, apart;
};
PlaceNames place_names(const Input& input);

/// Throws an Error if the folder cannot be made.
void make_folder(const std::filesystem::path& folder);

/// Copies with times and permissions; a member of an archive has none. A repeated call
/// changes nothing. Throws Unreadable, or an Error if the folder cannot be written.
void copy_into(const Input& input, const std::filesystem::path& folder);
/// A symbolic link to the absolute path of the input, which is a plain file.
void link_into(const Input& input, const std::filesystem::path& folder);

/// Gives a file another name, on another file system if necessary. False: the name exists. Throws
/// an Error.
bool move_file(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace vit::tools
