#include "tools/index/update.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "patch/image/pixel_budget.h"
#include "tools/cli/progress.h"
#include "tools/cli/stop_signals.h"
#include "tools/indexed/stamp.h"
#include "tools/output/digest.h"
#include "tools/output/format.h"
#include "tools/output/lock.h"
#include "tools/output/reason.h"
#include "tools/output/terminal.h"
#include "vit/base/encoding.h"
#include "vit/base/error.h"
#include "vit/index/writer.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using index::Entry;
using index::Status;

/// Images between two checks of the clock: more if they take little time, and always enough to keep
/// the workers of usual machines busy.
constexpr size_t kLeastImages = 16, kMostImages = 256;
constexpr auto kBetweenFlushes = std::chrono::seconds(2);
constexpr size_t kMostReports = 10;

using Content = std::array<std::byte, 32>;

Content content_of(std::span<const std::byte> bytes) {
  Digest digest = Digest::sha256();
  digest.add(bytes);
  const std::string hash = from_hex(digest.finish()).value();
  Content content{};
  std::ranges::copy(std::as_bytes(std::span(hash)), content.begin());
  return content;
}

std::string key_of(const Content& content) {
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

enum class Outcome { kNotDone, kNew, kSameContent };

/// The work on an item that is new or differs from its row in the index.
struct Work {
  const IndexItem* item = nullptr;
  Stamp stamp{};
  std::optional<size_t> earlier{};  ///< its row so far
  Outcome outcome = Outcome::kNotDone;
  Entry entry{};
  std::string note{};
  std::vector<float> vector{};
};

struct Counts {
  std::uint64_t added = 0, changed = 0, same_content = 0, unchanged = 0, gone = 0, failed = 0;
};

index::Index open_index(const UpdateSettings& settings, const UpdateSource& source) {
  std::error_code ignored;
  const auto type =
      settings.half.value_or(false) ? index::NumberType::kF16 : index::NumberType::kF32;
  if (settings.restart || !fs::exists(settings.output, ignored))
    index::create_index(
        settings.output,
        {.type = type, .width = source.width, .description = dump(source.description)});
  index::Index index = index::read_index(settings.output);
  check_description(settings.output, description_of(settings.output, index), source.description,
                    "use the same model and options, give another output, or start again with "
                    "--restart");
  if (index.format.width != source.width)
    fail_at(settings.output.string(), "has vectors of ", index.format.width, " numbers, expected ",
            source.width, "; start again with --restart");
  if (settings.half && index.format.type != type)
    fail_at(settings.output.string(),
            "has numbers of 32 bits, and --half asks for 16; start again with --restart");
  return index;
}

class Update {
 public:
  Update(const UpdateSettings& settings, const UpdateSource& source)
      : settings_(settings),
        source_(source),
        lock_(settings.output),
        index_(open_index(settings, source)),
        writer_(settings.output, index_),
        budget_(source.model ? source.model->max_pixels : patch::kUsualMaxPixels),
        progress_(run_display(settings.quiet, false)) {
    for (size_t row = 0; row < index_.entries.size(); ++row) {
      const Entry& entry = index_.entries[row];
      if (entry.status == Status::kReplaced) continue;
      rows_.emplace(entry.path, row);
      if (entry.status == Status::kLive && entry.content != Content{})
        contents_.emplace(key_of(entry.content), row);
    }
  }

  int go() {
    std::vector<Work> piece;
    for (const IndexItem& item : source_.items) {
      if (signals_.flag()) break;
      seen_.insert(item.input.path);
      if (auto work = look_at(item)) piece.push_back(std::move(*work));
      if (piece.size() >= piece_images_) finish(piece);
    }
    finish(piece);
    const bool stopped = signals_.flag();
    if (!stopped) drop_gone_rows();
    writer_.finish();
    progress_.clear();
    if (stopped) {
      write_message("stopped; " + settings_.output.string() +
                    " has what was done so far; the same command resumes");
      return signals_.exit_status();
    }
    return conclude();
  }

 private:
  /// None: the index has this image unchanged.
  std::optional<Work> look_at(const IndexItem& item) {
    Work work{.item = &item, .stamp = stamp_of(item.input)};
    const auto known = rows_.find(item.input.path);
    if (known != rows_.end()) {
      const Entry& entry = index_.entries[known->second];
      const bool same = entry.bytes == work.stamp.bytes && entry.time == work.stamp.time;
      if (same && (entry.status == Status::kLive || !settings_.retry_failed)) {
        ++counts_.unchanged;
        if (entry.status == Status::kFailed) ++counts_.failed;
        return std::nullopt;
      }
      work.earlier = known->second;
    }
    work.entry = {.path = item.input.path, .bytes = work.stamp.bytes, .time = work.stamp.time};
    return work;
  }

  void finish(std::vector<Work>& piece) {
    const auto start = std::chrono::steady_clock::now();
    const auto run = [&](Work& work, Runner* runner) {
      if (signals_.flag()) return;
      try {
        compute(work, runner);
      } catch (const patch::WaitStopped&) {
        return;
      } catch (const std::exception& error) {
        const std::string& path = work.item->input.path;
        work.note = path + ": " + reason_of(error, path);
      }
      if (work.outcome == Outcome::kNotDone) work.outcome = Outcome::kNew;
    };
    if (source_.maker)
      source_.maker->classifier().for_each(
          piece.size(), [&](size_t i, Runner& runner) { run(piece[i], &runner); });
    else
      for (Work& work : piece) run(work, nullptr);
    for (const Work& work : piece) write(work);
    piece.clear();
    const auto now = std::chrono::steady_clock::now();
    if (now - flushed_ >= kBetweenFlushes) {
      writer_.flush();
      flushed_ = now;
    }
    if (now - start < kBetweenFlushes / 4) piece_images_ = std::min(2 * piece_images_, kMostImages);
    if (now - start > kBetweenFlushes) piece_images_ = std::max(piece_images_ / 2, kLeastImages);
    show();
  }

  /// In any thread.
  void compute(Work& work, Runner* runner) const {
    const IndexItem& item = *work.item;
    if (!runner) {
      work.vector = item.vector;
      work.note = item.reason;
      return;
    }
    if (!item.input.problem.empty()) fail(item.input.problem);
    const std::vector<std::byte> bytes = read_bytes(item.input, signals_.flag());
    work.entry.content = content_of(bytes);
    if (const auto same = contents_.find(key_of(work.entry.content)); same != contents_.end())
      return take_over(same->second, work);
    const patch::Image image =
        patch::decode(bytes, item.input.path, source_.model->decoding(&budget_, &signals_.flag()));
    work.entry.width = static_cast<std::uint32_t>(image.width);
    work.entry.height = static_cast<std::uint32_t>(image.height);
    work.note = image.damage;
    try {
      work.vector = source_.maker->vector_of(image, *runner);
    } catch (const Error& error) {
      fail_at(item.input.path, error.what());
    }
  }

  /// The file was moved, copied or only touched: its vector is known.
  void take_over(size_t row, Work& work) const {
    const Entry& earlier = index_.entries[row];
    work.entry.width = earlier.width;
    work.entry.height = earlier.height;
    work.note = earlier.note;
    work.vector.resize(source_.width);
    index::read_rows(index_.vectors, std::span(&row, 1),
                     MatrixView(work.vector.data(), 1, source_.width));
    work.outcome = Outcome::kSameContent;
  }

  void write(const Work& work) {
    if (work.outcome == Outcome::kNotDone) return;
    Entry entry = work.entry;
    entry.note = work.note;
    if (work.vector.empty()) {
      entry.status = Status::kFailed;
      report(work.note);
    }
    writer_.append(entry, work.vector);
    if (work.earlier) writer_.replace(*work.earlier);
    if (work.outcome == Outcome::kSameContent)
      ++counts_.same_content;
    else
      ++(work.earlier ? counts_.changed : counts_.added);
  }

  void report(const std::string& reason) {
    ++counts_.failed;
    if (++reports_ > kMostReports) return;
    progress_.clear();
    write_message(reason);
  }

  /// Only rows below the listed operands: a drive that is not mounted must not empty the index.
  void drop_gone_rows() {
    for (const auto& [path, row] : rows_) {
      if (seen_.contains(path) || !is_covered(path) || is_there(path)) continue;
      writer_.replace(row);
      ++counts_.gone;
    }
  }

  /// Whether a plain file exists, or its folder cannot be read. Members of archives exist if
  /// listed.
  static bool is_there(std::string_view path) {
    struct stat status {};
    const std::string file(path);
    if (split_member_name(file)) return false;
    return ::stat(file.c_str(), &status) == 0 || errno != ENOENT;
  }

  bool is_covered(std::string_view path) const {
    for (const auto& folder : source_.covers) {
      const std::string& name = folder.native();
      if (path.starts_with(name + "/") || path.starts_with(name + std::string(kMemberMark)))
        return true;
    }
    return false;
  }

  void show() {
    const std::uint64_t done =
        counts_.added + counts_.changed + counts_.same_content + counts_.unchanged;
    progress_.update({.done = done,
                      .earlier = counts_.unchanged,
                      .failed = counts_.failed,
                      .total = source_.items.size(),
                      .seconds = progress_.seconds()});
  }

  int conclude() {
    index::Index now = index::read_index(settings_.output);
    if (index::worth_compacting(now)) {
      index::compact(settings_.output, now);
      now = index::read_index(settings_.output);
    }
    const size_t live = index::live_rows(now.vectors).size();
    if (reports_ > kMostReports)
      write_message("... and " + format_count(reports_ - kMostReports) + " more that failed");
    if (live == 0)
      fail_at(settings_.output.string(), "no image could be read; see the messages above");
    if (!settings_.quiet) write_message(settings_.output.string() + ": " + summary(live));
    return 0;
  }

  std::string summary(size_t live) const {
    std::string text = format_count(live) + (live == 1 ? " image" : " images");
    const auto add = [&](std::uint64_t count, const char* what) {
      if (count != 0) text += ", " + format_count(count) + " " + what;
    };
    add(counts_.added, "new");
    add(counts_.changed, "changed");
    add(counts_.same_content, "with known content");
    add(counts_.unchanged, "unchanged");
    add(counts_.gone, "gone");
    add(counts_.failed, "failed");
    return text;
  }

  const UpdateSettings& settings_;
  const UpdateSource& source_;
  OutputLock lock_;
  StopSignals signals_;
  index::Index index_;  ///< as it was before
  index::IndexWriter writer_;
  mutable patch::PixelBudget budget_;  ///< shared by the workers, with its own lock
  ProgressLine progress_;
  std::unordered_map<std::string_view, size_t> rows_;  ///< by path
  std::unordered_map<std::string, size_t> contents_;   ///< by hash
  std::unordered_set<std::string_view> seen_;
  std::chrono::steady_clock::time_point flushed_{};  ///< the first piece is flushed at once
  size_t piece_images_ = kLeastImages;
  Counts counts_;
  std::uint64_t reports_ = 0;
};

}  // namespace

int update_index(const UpdateSettings& settings, const UpdateSource& source) {
  return Update(settings, source).go();
}

}  // namespace vit::tools
