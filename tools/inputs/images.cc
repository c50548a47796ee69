// The bytes and the pixels of inputs.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>

#include "patch/image/image_bytes.h"
#include "patch/image/pixel_budget.h"
#include "patch/video/video.h"
#include "tools/inputs/boxes.h"
#include "tools/inputs/bytes.h"
#include "tools/inputs/inputs.h"
#include "tools/sources/video_frames.h"
#include "vit/base/error.h"
#include "vit/data/directory.h"

namespace vit::tools {
namespace {

void check_readable(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) fail_at(path, "no such file");
    fail_at(path, "cannot open: ", std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) fail_at(path, "is a folder, expected an image file");
  if (!S_ISREG(status.st_mode)) fail_at(path, "not a regular file: a device, pipe or socket");
  if (status.st_size > INT_MAX)
    fail_at(path, "the file is too large: ", status.st_size, " bytes; at most ", INT_MAX,
            " are read");
}

void find_member(const MemberName& name, InputFinder& finder, const std::atomic<bool>& stop,
                 Input& input) {
  auto found = finder.members.find(name, stop);
  input.archive = std::move(found.archive);
  input.member = std::move(found.member);
  input.problem = input.member.problem;
}

void find_frame(const FrameName& name, InputFinder& finder, const std::atomic<bool>& stop,
                Input& input) {
  if (finder.video_path != name.video) {
    finder.video = open_video(name.video, 0, stop);
    finder.video_path = name.video;
  }
  input.video = finder.video;
  input.milliseconds = name.milliseconds;
}

void find_box(const BoxFile& boxes, Input& input) {
  const auto found = boxes.find(input.path);
  if (!found) {
    input.problem = "no such box, or one that is left out";
    return;
  }
  const auto& image = boxes.images()[found->first];
  input.file = image.file;
  for (const auto& [place, box] : image.boxes)
    if (place == found->second) input.box = box;
}

patch::Image load_frame(const Input& input, const patch::DecodeOptions& options) {
  try {
    return input.video->frame(static_cast<double>(input.milliseconds) / 1000, options);
  } catch (const patch::WaitStopped&) {
    throw;
  } catch (const Error& error) {
    fail_at(input.path, error.what());
  }
}

}  // namespace

std::string file_of(const std::string& path) {
  if (const auto member = split_member_name(path)) return member->archive;
  if (const auto frame = split_frame_name(path)) return frame->video;
  std::error_code ignored;
  const auto box = split_box_name(path);
  return box && !std::filesystem::exists(path, ignored) ? box->file : path;
}

Input input_of_row(std::uint64_t number, const std::string& path, const std::atomic<bool>& stop,
                   InputFinder& finder) {
  Input input{.number = number, .path = path, .file = path};
  try {
    if (const auto member = split_member_name(path)) {
      input.file = member->archive;
      find_member(*member, finder, stop, input);
    } else if (const auto frame = split_frame_name(path)) {
      input.file = frame->video;
      find_frame(*frame, finder, stop, input);
    } else if (finder.boxes) {
      find_box(*finder.boxes, input);
    } else if (path.rfind(kMemberMark) != path.npos && !std::filesystem::exists(path)) {
      input.problem = "no such file";
    }
  } catch (const Error& error) {
    input.problem = error.what();
  }
  return input;
}

patch::ByteSource source_of(const Input& input, const std::atomic<bool>& stop) {
  if (!input.problem.empty()) fail_at(input.path, input.problem);
  if (input.video) fail_at(input.path, "is a frame of a video, not a file");
  if (input.archive) {
    if (input.member.size > INT_MAX)
      fail_at(input.path, "the file is too large: ", input.member.size, " bytes; at most ", INT_MAX,
              " are read");
    return input.archive->source(input.member, input.path, stop);
  }
  check_readable(input.file);
  const auto file = std::make_shared<const ReadableFile>(input.file);
  return {.name = input.file,
          .size = static_cast<size_t>(file->size()),
          .read = [file](size_t at, std::span<std::byte> bytes) { return file->read(at, bytes); }};
}

// Only as many as an image of its size can need: an archive may claim gigabytes for a member.
std::vector<std::byte> read_bytes(const Input& input, const std::atomic<bool>& stop) {
  return patch::read_image_bytes(source_of(input, stop));
}

patch::Image load_image(const Input& input, std::span<const std::byte> bytes,
                        const patch::DecodeOptions& options) {
  if (input.box) return cropped(patch::decode(bytes, input.file, options), *input.box);
  return patch::decode(bytes, input.path, options);
}

patch::Image load_image(const Input& input, const patch::DecodeOptions& options) {
  if (!input.problem.empty()) fail_at(input.path, input.problem);
  if (input.video) return load_frame(input, options);
  const auto& stop = options.stop != nullptr ? *options.stop : data::kNeverStop;
  const patch::ByteSource source = source_of(input, stop);
  if (input.box) return cropped(patch::decode(source, options), *input.box);
  return patch::decode(source, options);
}

}  // namespace vit::tools
