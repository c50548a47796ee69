/// Where the tests find what they need. Only paths.cc is compiled with absolute paths, so that a
/// compiler cache can share every other object between checkouts.
#pragma once

#include <filesystem>

namespace vit::test {

const std::filesystem::path& source_dir();
/// Reference results that are part of the repository.
const std::filesystem::path& goldens();
/// Large files beside the checkout, which users do not have: skip visibly without them.
const std::filesystem::path& shared();
/// The built program.
const char* program();

}  // namespace vit::test
