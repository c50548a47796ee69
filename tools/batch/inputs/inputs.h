/// The images that the operands of a command line name, one by one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "patch/image/image.h"
#include "tools/batch/inputs/readable_file.h"
#include "vit/data/skipped_files.h"

namespace vit::tools {

/// Of a .tar member the path is "shard.tar!/name".
constexpr std::string_view kMemberMark = "!/";

struct Input {
  std::uint64_t number = 0;                     ///< its place in the listing, from 1
  std::string path;                             ///< as its row names it
  std::string problem;                          ///< why it cannot be read; empty: it can
  std::shared_ptr<const ReadableFile> archive;  ///< the archive of the image; none: a plain file
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct InputSettings {
  std::vector<std::string> operands;  ///< files, folders, globs, .tar, @list; "-": a list on stdin
  char separator = '\n';              ///< of the names in a list
};

/// Takes an input; false ends the listing.
using TakeInput = std::function<bool(Input)>;

struct Listed {
  bool complete = false;       ///< the listing came to its end
  data::SkippedFiles skipped;  ///< of the folders and archives as far as they were listed
};

/// Lists in the order of the operands; folders and globs in the order of the names' bytes, .tar
/// files in their own. Never throws for an input that cannot be read: it has a
/// `problem`. `stop` ends it promptly, also while it waits for names.
Listed list_inputs(const InputSettings& settings, const std::atomic<bool>& stop,
                   const TakeInput& take);

/// Throws a UsageError that lists every operand that names nothing: a path that does not exist, a
/// pattern without a match, a folder or an archive without images. Lists are not read: each of
/// their names is a row.
void check_operands(const InputSettings& settings);

/// The input of a row that was written earlier. `stop` ends the search in an archive; the input is
/// then unusable.
Input input_of_row(std::uint64_t number, const std::string& path, const std::atomic<bool>& stop);

/// The bytes of the file, or of the member. Throws an Error that starts with the path.
std::vector<std::byte> read_bytes(const Input& input);
patch::Image load_image(const Input& input, const patch::DecodeOptions& options);

}  // namespace vit::tools
