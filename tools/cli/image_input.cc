#include "tools/cli/image_input.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "patch/image/image_bytes.h"
#include "patch/image/pixel_budget.h"
#include "tools/cli/options.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"
#include "tools/sources/archive.h"
#include "tools/sources/video_frames.h"
#include "vit/base/error.h"
#include "vit/data/image_files.h"

namespace vit::tools {
namespace {

constexpr std::atomic<bool> kNever{false};

patch::Image read_member(const MemberName& name, const std::string& file,
                         const patch::DecodeOptions& options) {
  try {
    MemberFinder finder;
    const auto found = finder.find(name, kNever);
    if (!found.member.problem.empty()) fail(found.member.problem);
    return patch::decode(found.archive->source(found.member, file, kNever), options);
  } catch (const patch::WaitStopped&) {
    throw;
  } catch (const Error& error) {
    fail_at(file, error.reason_at(file));
  }
}

patch::Image read_frame(const FrameName& name, const std::string& file,
                        const patch::DecodeOptions& options) {
  try {
    return open_video(name.video, 0, kNever)
        ->frame(static_cast<double>(name.milliseconds) / 1000, options);
  } catch (const patch::WaitStopped&) {
    throw;
  } catch (const Error& error) {
    fail_at(file, error.reason_at(file));
  }
}

}  // namespace

void check_standard_input(const std::vector<std::string>& files) {
  const auto inputs = std::ranges::count(files, kStandardInput);
  if (inputs > 1) fail_usage("'-' given ", inputs, " times, but there is one standard input");
  if (inputs == 1 && isatty(STDIN_FILENO) == 1)
    fail_usage(
        "'-' reads an image from standard input, which is a terminal; feed it with '< FILE'");
}

std::string shown_name(const std::string& file) {
  return file == kStandardInput ? "standard input" : file;
}

ImageFiles image_files(const std::vector<std::string>& operands) {
  ImageFiles found;
  for (const auto& operand : operands) {
    std::error_code ignored;  // reading the file reports it
    if (!std::filesystem::is_directory(operand, ignored)) {
      found.files.push_back(operand);
      continue;
    }
    const auto take = [&](const std::string& path) {
      found.files.push_back(path);
      return true;
    };
    const size_t before = found.files.size();
    data::visit_images(operand, take, found.skipped);
    if (found.files.size() == before)
      fail_at(operand, "no image in this folder, expected files that end in ", data::kImageEndings);
  }
  return found;
}

patch::Image read_image_input(const std::string& file, const patch::DecodeOptions& options) {
  if (file == kStandardInput)
    return patch::decode(patch::open_source(STDIN_FILENO, shown_name(file)), options);
  if (const auto name = split_member_name(file)) return read_member(*name, file, options);
  if (const auto name = split_frame_name(file)) return read_frame(*name, file, options);
  std::error_code unreadable;  // reading the file reports it
  if (std::filesystem::is_directory(file, unreadable))
    fail_at(file,
            "is a folder, expected an image; vit batch takes folders, or give its files, such as ",
            file, file.ends_with('/') ? "" : "/", "*.jpg");
  return patch::read_image(file, options);
}

void say_skipped(const data::SkippedFiles& skipped) {
  if (const std::string text = skipped.text(); !text.empty()) write_message(printable(text));
}

void say_damage(const std::string& file, const patch::Image& image) {
  if (!image.damage.empty())
    write_message(printable(shown_name(file) + ": damaged: " + image.damage));
}

}  // namespace vit::tools
