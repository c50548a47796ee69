/// The images that the operands of a command line name, one by one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "patch/image/image.h"
#include "tools/sources/archive.h"
#include "vit/data/skipped_files.h"

namespace vit::patch {
class Video;
}

namespace vit::tools {

class BoxFile;

/// A part of an image, in fractions of its width and height.
struct DetectionBox {
  double left = 0, top = 0, width = 0, height = 0;
};

struct Input {
  std::uint64_t number = 0;                  ///< its place in the listing, from 1
  std::string path{};                        ///< as its row names it
  std::string file{};                        ///< on the disk: of a member its archive, of a frame
                                             ///< its video, of a box its image
  std::string problem{};                     ///< why it cannot be read; empty: it can
  std::shared_ptr<const Archive> archive{};  ///< the archive of the image; none: a plain file
  Member member{};                           ///< of the archive
  std::shared_ptr<patch::Video> video{};     ///< the video of the frame
  std::int64_t milliseconds = 0;             ///< when the frame is shown
  std::optional<DetectionBox> box{};         ///< the part of the image that is classified
};

struct InputSettings {
  std::vector<std::string> operands;  ///< files, folders, globs, archives, members of archives,
                                      ///< @list; "-": a list on stdin
  char separator = '\n';              ///< of the names in a list
  std::int64_t every = 0;             ///< milliseconds between the frames of videos; 0: no videos
  std::shared_ptr<const BoxFile> boxes{};  ///< instead of the images of the operands
};

/// Takes an input; false ends the listing.
using TakeInput = std::function<bool(Input)>;

struct Listed {
  bool complete = false;       ///< the listing reached its end
  data::SkippedFiles skipped;  ///< of the folders and archives as far as they were listed
};

/// Lists in the order of the operands; folders and globs in the order of the names' bytes,
/// archives in their own. Never throws for an input that cannot be read: it has a
/// `problem`. `stop` ends it promptly, also while it waits for names.
Listed list_inputs(const InputSettings& settings, const std::atomic<bool>& stop,
                   const TakeInput& take);

/// The files of the operands that are lists.
std::vector<std::filesystem::path> list_files(const std::vector<std::string>& operands);

/// Throws a UsageError that lists every operand that names nothing: a path that does not exist, a
/// pattern without a match, a folder or an archive without images. Lists are not read: each of
/// their names is a row.
void check_operands(const InputSettings& settings);

/// The file on the disk that a row's name leads to, as Input::file. A file of the whole name comes
/// first; without any, it is the name itself.
std::string file_of(const std::string& path);

/// The archive and the video that were opened last, kept for the next row.
struct InputFinder {
  MemberFinder members{};
  std::string video_path{};
  std::shared_ptr<patch::Video> video{};
  std::shared_ptr<const BoxFile> boxes{};  ///< where rows may be boxes
};
/// The input of a row that was written earlier. `stop` ends the search in an archive; the input is
/// then unusable.
Input input_of_row(std::uint64_t number, const std::string& path, const std::atomic<bool>& stop,
                   InputFinder& finder);

/// The bytes of the file or of the member of an archive; for a box, of the file of its image.
/// Throws an Error that starts with the path, always for a frame of a video.
/// `stop` ends the read in an archive with patch::WaitStopped.
std::vector<std::byte> read_bytes(const Input& input, const std::atomic<bool>& stop);

patch::Image load_image(const Input& input, const patch::DecodeOptions& options);
/// From its bytes, of read_bytes().
patch::Image load_image(const Input& input, std::span<const std::byte> bytes,
                        const patch::DecodeOptions& options);

}  // namespace vit::tools
