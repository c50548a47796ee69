#include "tools/batch/inputs/inputs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <utility>

#include "patch/image/image_bytes.h"
#include "tools/batch/inputs/glob.h"
#include "tools/batch/inputs/name_list.h"
#include "tools/batch/inputs/tar.h"
#include "tools/cli/usage_error.h"
#include "vit/base/error.h"
#include "vit/base/text.h"
#include "vit/data/image_files.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

bool is_archive(const std::string& path) {
  return ending_of(path) == ".tar";
}

/// The message of an error about `path`, which its row names anyway.
std::string reason(const std::exception& error, const std::string& path) {
  const std::string text = error.what();
  return text.starts_with(path + ": ") ? text.substr(path.size() + 2) : text;
}

class Listing {
 public:
  Listing(const InputSettings& settings, const std::atomic<bool>& stop, const TakeInput& take)
      : settings_(settings), stop_(stop), take_(take) {}

  bool list_operand(const std::string& operand) {
    if (operand == "-") return list_names(STDIN_FILENO, "standard input");
    if (operand.starts_with('@')) return list_file(operand);
    struct stat status {};
    const bool there = lstat(operand.c_str(), &status) == 0;
    return there || !is_glob(operand) ? list_path(operand) : list_glob(operand);
  }

  const data::SkippedFiles& skipped() const { return skipped_; }

 private:
  bool give(std::string path) {
    Input input;
    input.path = std::move(path);
    return give(std::move(input));
  }
  bool give(Input input) {
    input.number = ++count_;
    return take_(std::move(input)) && !stop_;
  }
  bool give_problem(const std::string& path, std::string problem) {
    Input input;
    input.path = path;
    input.problem = std::move(problem);
    return give(std::move(input));
  }

  bool list_path(const std::string& path) {
    struct stat status {};
    const bool there = stat(path.c_str(), &status) == 0;
    if (there && S_ISDIR(status.st_mode)) return list_folder(path);
    if (there && S_ISREG(status.st_mode) && is_archive(path)) return list_archive(path);
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
               return give_problem(folder, reason(error, folder));
             }},
        skipped_, stop_);
  }

  bool list_file_in_folder(const std::string& path) {
    if (is_archive(path)) return list_archive(path);
    if (data::looks_like_image(path)) return give(path);
    skipped_.add(path);
    return true;
  }

  bool list_archive(const std::string& path) {
    try {
      const auto file = std::make_shared<const ReadableFile>(path);
      return visit_tar(
          *file, [&](const TarMember& member) { return list_member(file, member); }, stop_);
    } catch (const Error& error) {
      return give_problem(path, reason(error, path));
    }
  }

  bool list_member(const std::shared_ptr<const ReadableFile>& file, const TarMember& member) {
    if (fs::path(member.name).filename().string().starts_with('.')) return true;
    if (!data::looks_like_image(member.name)) {
      skipped_.add(member.name);
      return true;
    }
    Input input;
    input.path = file->path() + std::string(kMemberMark) + member.name;
    input.archive = file;
    input.offset = member.offset;
    input.size = member.size;
    return give(std::move(input));
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
        if (!list_path(*path)) return false;
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
};

/// The archive's name is in the path; `input` must outlive the source.
patch::ByteSource member_source(const Input& input) {
  return {.name = input.path,
          .size = static_cast<size_t>(input.size),
          .read = [&input](size_t at, std::span<std::byte> bytes) {
            const size_t left = at < input.size ? static_cast<size_t>(input.size) - at : 0;
            return input.archive->read(input.offset + at,
                                       bytes.first(std::min(left, bytes.size())));
          }};
}

void check_readable(const Input& input) {
  struct stat status {};
  if (stat(input.path.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) fail(input.path, ": no such file");
    fail(input.path, ": cannot open: ", std::strerror(errno));
  }
  if (S_ISDIR(status.st_mode)) fail(input.path, ": is a folder, expected an image file");
  if (!S_ISREG(status.st_mode)) fail(input.path, ": not a regular file: a device, pipe or socket");
  if (status.st_size > INT_MAX)
    fail(input.path, ": the file is too large: ", status.st_size, " bytes; at most ", INT_MAX,
         " are read");
}

/// Why an operand of the command line names nothing; empty if it names something.
std::string why_nothing(const InputSettings& settings, const std::string& operand) {
  bool found = false;
  const TakeInput take_one = [&](const Input&) {
    found = true;
    return false;
  };
  struct stat status {};
  const bool there = stat(operand.c_str(), &status) == 0;
  const int error = errno;
  if (!there && error != ENOENT && error != ENOTDIR)
    return std::string("cannot open: ") + std::strerror(error);
  if (!there && !is_glob(operand)) return "no such file or folder";
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
  bool complete = true;
  for (const auto& operand : settings.operands)
    if (complete) complete = listing.list_operand(operand);
  return {complete, listing.skipped()};
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

Input input_of_row(std::uint64_t number, const std::string& path, const std::atomic<bool>& stop) {
  Input input;
  input.number = number;
  input.path = path;
  struct stat status {};
  const size_t mark = path.rfind(kMemberMark);
  if (mark == path.npos || stat(path.c_str(), &status) == 0) return input;
  const std::string wanted = path.substr(mark + kMemberMark.size());
  try {
    const auto file = std::make_shared<const ReadableFile>(path.substr(0, mark));
    const auto take = [&](const TarMember& member) {
      if (member.name != wanted) return true;
      input.archive = file;
      input.offset = member.offset;
      input.size = member.size;
      return false;
    };
    visit_tar(*file, take, stop);
    if (!input.archive) input.problem = "no such member in this archive";
  } catch (const Error& error) {
    input.problem = reason(error, path.substr(0, mark));
  }
  return input;
}

std::vector<std::byte> read_bytes(const Input& input) {
  if (!input.problem.empty()) fail(input.path, ": ", input.problem);
  if (input.archive) {
    if (input.size > INT_MAX)
      fail(input.path, ": the file is too large: ", input.size, " bytes; at most ", INT_MAX,
           " are read");
    return input.archive->read(input.offset, static_cast<size_t>(input.size));
  }
  check_readable(input);
  const ReadableFile file(input.path);
  struct stat status {};
  stat(input.path.c_str(), &status);
  return file.read(0, static_cast<size_t>(status.st_size));
}

patch::Image load_image(const Input& input, const patch::DecodeOptions& options) {
  if (!input.problem.empty()) fail(input.path, ": ", input.problem);
  if (input.archive) return patch::decode(member_source(input), options);
  check_readable(input);
  return patch::read_image(input.path, options);
}

}  // namespace vit::tools
