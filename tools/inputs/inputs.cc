#include "tools/inputs/inputs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "patch/image/pixel_budget.h"
#include "patch/video/video.h"
#include "tools/cli/usage_error.h"
#include "tools/inputs/boxes.h"
#include "tools/inputs/glob.h"
#include "tools/inputs/name_list.h"
#include "tools/output/reason.h"
#include "tools/sources/video_frames.h"
#include "vit/base/error.h"
#include "vit/base/text.h"
#include "vit/data/image_files.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

class Listing {
 public:
  Listing(const InputSettings& settings, const std::atomic<bool>& stop, const TakeInput& take)
      : settings_(settings), stop_(stop), take_(take) {}

  bool list_operand(const std::string& operand) {
    if (operand == "-") return list_names(STDIN_FILENO, "standard input");
    if (operand.starts_with('@')) return list_file(operand);
    if (split_member_name(operand) || split_frame_name(operand)) return list_name(operand);
    struct stat status {};
    const bool there = lstat(operand.c_str(), &status) == 0;
    return there || !is_glob(operand) ? list_path(operand) : list_glob(operand);
  }

  bool list_boxes() {
    for (const auto& image : settings_.boxes->images())
      for (const auto& [place, box] : image.boxes) {
        Input input{.path = box_name(image.file, place)};
        input.file = image.file;
        input.box = box;
        if (!give(std::move(input))) return false;
      }
    return true;
  }

  const data::SkippedFiles& skipped() const { return skipped_; }

 private:
  bool give(const std::string& path) { return give(Input{.path = path, .file = path}); }
  bool give(Input input) {
    input.number = ++count_;
    return take_(std::move(input)) && !stop_;
  }
  bool give_problem(const std::string& path, std::string problem) {
    return give(Input{.path = path, .file = path, .problem = std::move(problem)});
  }

  bool list_name(const std::string& name) {
    if (split_member_name(name) || split_frame_name(name))
      return give(input_of_row(0, name, stop_, finder_));
    return list_path(name);
  }

  bool list_path(const std::string& path) {
    struct stat status {};
    const bool there = stat(path.c_str(), &status) == 0;
    if (there && S_ISDIR(status.st_mode)) return list_folder(path);
    if (there && S_ISREG(status.st_mode) && is_archive(path)) return list_archive(path);
    if (there && S_ISREG(status.st_mode) && takes_frames_of(path)) return list_video(path);
    if (there && !S_ISREG(status.st_mode))
      return give_problem(path, "not a regular file: a device, pipe or socket");
    return give(path);
  }

  bool list_folder(const std::string& path) {
    return data::visit_files(
        path,
        {.file = [&](const std::string& file) { return list_file_in_folder(file); },
         .unreadable =
             [&](const std::string& folder, const Error& error) {
               return give_problem(folder, reason_of(error, folder));
             }},
        skipped_, stop_);
  }

  bool list_file_in_folder(const std::string& path) {
    if (is_archive(path)) return list_archive(path);
    if (takes_frames_of(path)) return list_video(path);
    if (data::looks_like_image(path)) return give(path);
    skipped_.add(path);
    return true;
  }

  bool list_archive(const std::string& path) {
    try {
      const auto file = std::make_shared<const Archive>(path);
      return file->visit([&](const Member& member) { return list_member(file, member); }, stop_);
    } catch (const Error& error) {
      return give_problem(path, reason_of(error, path));
    }
  }

  bool list_member(const std::shared_ptr<const Archive>& file, const Member& member) {
    if (fs::path(member.name).filename().string().starts_with('.')) return true;
    if (!data::looks_like_image(member.name)) {
      skipped_.add(member.name);
      return true;
    }
    Input input;
    input.path = file->path() + std::string(kMemberMark) + member.name;
    input.file = file->path();
    input.problem = member.problem;
    input.archive = file;
    input.member = member;
    return give(std::move(input));
  }

  bool takes_frames_of(const std::string& path) const {
    return settings_.every > 0 && patch::looks_like_video(path);
  }

  bool list_video(const std::string& path) {
    try {
      const auto video = open_video(path, settings_.every, stop_);
      const std::int64_t count = count_frames(*video, path, settings_.every);
      for (std::int64_t i = 0; i < count; ++i) {
        Input input{.path = frame_name(path, i * settings_.every), .file = path};
        input.video = video;
        input.milliseconds = i * settings_.every;
        if (!give(std::move(input))) return false;
      }
      return true;
    } catch (const patch::WaitStopped&) {
      return false;
    } catch (const Error& error) {
      return give_problem(path, reason_of(error, path));
    }
  }

  bool list_glob(const std::string& pattern) {
    bool matched = false;
    try {
      const bool more = visit_glob(
          pattern,
          [&](const std::string& path) {
            matched = true;
            return list_path(path);
          },
          stop_);
      if (!more) return false;
    } catch (const Error& error) {
      return give_problem(pattern, error.what());
    }
    return matched || give_problem(pattern, "no such file, and nothing matches it as a pattern");
  }

  bool list_file(const std::string& operand) {
    // Without O_NONBLOCK, opening a pipe would wait for a writer and ignore `stop`; reading the
    // list waits instead.
    const int file = ::open(operand.c_str() + 1, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
      return give_problem(operand, std::string("cannot open this list: ") + std::strerror(errno));
    const bool more = list_names(file, operand);
    ::close(file);
    return more;
  }

  bool list_names(int file, const std::string& name) {
    NameList names(file, settings_.separator, stop_);
    try {
      while (const auto path = names.next())
        if (!list_name(*path)) return false;
    } catch (const Error& error) {
      return give_problem(name, error.what());
    }
    return !stop_;
  }

  const InputSettings& settings_;
  const std::atomic<bool>& stop_;
  const TakeInput& take_;
  std::uint64_t count_ = 0;
  data::SkippedFiles skipped_;
  InputFinder finder_;
};

/// Why an operand of the command line names nothing; empty if it names something.
std::string why_nothing(const InputSettings& settings, const std::string& operand) {
  bool found = false;
  const TakeInput take_one = [&](const Input&) {
    found = true;
    return false;
  };
  if (split_member_name(operand) || split_frame_name(operand)) {
    InputFinder finder;
    return input_of_row(0, operand, data::kNeverStop, finder).problem;
  }
  struct stat status {};
  const bool there = stat(operand.c_str(), &status) == 0;
  const int error = errno;
  if (!there && error != ENOENT && error != ENOTDIR)
    return std::string("cannot open: ") + std::strerror(error);
  if (!there && !is_glob(operand)) return "no such file or folder";
  if (there && settings.every == 0 && patch::looks_like_video(operand))
    return "a video; vit batch --every 1s takes its frames, and " + frame_name(operand, 12'000) +
           " is the one after 12 s";
  if (there && S_ISREG(status.st_mode) && !is_archive(operand)) return "";
  if (!there) {
    bool matched = false;
    visit_glob(
        operand, [&](const std::string&) { return !(matched = true); }, data::kNeverStop);
    if (!matched) return "no file or folder matches this pattern";
  }
  Listing listing(settings, data::kNeverStop, take_one);
  listing.list_operand(operand);
  if (found) return "";
  const std::string skipped = listing.skipped().text();
  return "no image in it, expected files that end in " + std::string(data::kImageEndings) +
         (skipped.empty() ? "" : "; " + skipped);
}

}  // namespace

Listed list_inputs(const InputSettings& settings, const std::atomic<bool>& stop,
                   const TakeInput& take) {
  Listing listing(settings, stop, take);
  if (settings.boxes) return {.complete = listing.list_boxes(), .skipped = {}};
  bool complete = true;
  for (const auto& operand : settings.operands)
    if (complete) complete = listing.list_operand(operand);
  return {complete, listing.skipped()};
}

std::vector<fs::path> list_files(const std::vector<std::string>& operands) {
  std::vector<fs::path> files;
  for (const auto& operand : operands)
    if (operand.starts_with('@')) files.emplace_back(operand.substr(1));
  return files;
}

void check_operands(const InputSettings& settings) {
  std::vector<std::string> lines;
  for (const auto& operand : settings.operands) {
    if (operand == "-" || operand.starts_with('@')) continue;
    const std::string why = why_nothing(settings, operand);
    if (!why.empty()) lines.push_back((operand.empty() ? "''" : operand) + ": " + why);
  }
  if (lines.empty()) return;
  std::string text = lines.size() == 1
                         ? lines.front()
                         : std::to_string(lines.size()) + " of " +
                               std::to_string(settings.operands.size()) + " inputs name nothing:";
  if (lines.size() > 1)
    for (const auto& line : lines) text += "\n  " + line;
  throw UsageError(text);
}

}  // namespace vit::tools
