/// The rows of a `vit batch` as a page of small pictures.
#pragma once

#include <filesystem>
#include <functional>

#include "patch/image/image.h"
#include "tools/rows/class_rows.h"
#include "vit/base/thread_pool.h"

namespace vit::tools {

/// Pictures of larger tables are files in a folder beside the page.
constexpr std::uint64_t kMostEmbeddedPictures = 1000;
/// Browsers limit the height of a page.
constexpr std::uint64_t kMostPageRows = 200'000;

struct PageParts {
  patch::DecodeOptions decoding;
  ThreadPool* pool = nullptr;
  /// Called with the number of pictures made so far, and of all.
  std::function<void(std::uint64_t done, std::uint64_t all)> progress{};
  const std::atomic<bool>* stop = nullptr;  ///< ends the work; nothing is written then
};

/// The folder of the pictures of a page that does not embed them.
std::filesystem::path pictures_of(const std::filesystem::path& page);

/// Writes the whole page or nothing. Pictures of an earlier call are used again if their images
/// have not changed since. Returns the number of rows. Throws an Error if there are too many.
std::uint64_t write_page(const ClassRows& source, const std::filesystem::path& output,
                         const PageParts& parts);

}  // namespace vit::tools
