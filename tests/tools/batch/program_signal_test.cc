/// Signals at random moments: exit status 0 means that everything is there; after any other status
/// the same command, run again, gives the result of an uninterrupted run. VIT_SIGNAL_ROUNDS=1000
/// makes it a long test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include "tests/support/paths.h"
#include "tests/tools/batch/batch_call.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr size_t kPhotographs = 60;
constexpr int kMostInARow = 4;  // then a run is left alone

size_t rounds() {
  const char* given = std::getenv("VIT_SIGNAL_ROUNDS");
  return given == nullptr ? 36 : std::strtoul(given, nullptr, 10);
}

enum class Mode { kPlain, kShard, kRetry };

/// One way to call the program, with the result of an uninterrupted run.
struct Case {
  std::string format;  ///< csv, jsonl, db, npy, or - for standard output
  size_t threads = 1;
  Mode mode = Mode::kPlain;
  std::string expected;
  double seconds = 0.0;  ///< of the uninterrupted run

  std::string name() const {
    const char* modes[] = {"", " shard", " retry"};
    return (format == "-" ? "stdout" : format) + modes[static_cast<int>(mode)] + ", " +
           std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  }
};

class Photographs {
 public:
  Photographs() {
    for (size_t i = 0; i < kPhotographs; ++i) write(i, good(i));
  }

  /// Every second one cannot be read, as if a disk were missing.
  void damage() const {
    for (size_t i = 0; i < kPhotographs; i += 2) write(i, "");
  }
  void repair() const {
    for (size_t i = 0; i < kPhotographs; i += 2) write(i, good(i));
  }
  const Folder& folder() const { return folder_; }

 private:
  static std::string good(size_t i) {
    return photograph(100 + 37 * (i % 13), 80 + 53 * (i % 7), static_cast<unsigned>(i + 1));
  }
  void write(size_t i, const std::string& bytes) const {
    const std::string path = folder_.write("in/" + std::to_string(100 + i) + ".png", bytes);
    fs::last_write_time(path, {});  // which is in the rows, too
  }

  Folder folder_;
};

std::string output_of(const Folder& folder, const Case& one) {
  return one.format == "-" ? "-" : folder.path("r." + one.format);
}

/// The file that the rows go to.
std::string file_of(const Folder& folder, const Case& one) {
  return folder.path("r" + std::string(one.mode == Mode::kShard ? "-00000-of-00002" : "") + "." +
                     one.format);
}

void remove_files(const std::string& file) {
  for (const auto* ending : {"", ".jsonl", ".done"})
    for (const auto* more : {"", "-wal", "-shm"}) fs::remove(file + ending + more);
  for (const auto* ending :
       {".retry", ".retry.jsonl", ".retry-wal", ".retry-shm", ".new", ".sums", ".jsonl.sums",
        ".retry.sums", ".retry.jsonl.sums", ".new.sums", ".done.before", ".run.json",
        ".jsonl.run.json", ".retry.run.json", ".retry.jsonl.run.json", ".new.run.json"})
    fs::remove(file + ending);
}

Call call_of(const Folder& folder, const Case& one, bool retry) {
  Call call;
  const bool features = one.format == "npy";
  call.arguments = {features ? "embed" : "batch", "-m",
                    (test::source_dir() / "weights/default").string()};
  if (!features) call.arguments.insert(call.arguments.end(), {"-k", "2"});
  // Without it another thread counts the inputs meanwhile.
  if (one.threads == 1 || one.format == "-") call.arguments.push_back("-q");
  call.arguments.insert(call.arguments.end(), {"--threads", std::to_string(one.threads),
                                               folder.path("in"), "-o", output_of(folder, one)});
  if (one.mode == Mode::kShard) call.arguments.insert(call.arguments.end(), {"--shard", "0/2"});
  if (retry) call.arguments.push_back("--retry-failed");
  return call;
}

/// What the files of a run are called after its output.
constexpr const char* kParts[]{"", ".jsonl", ".run.json", ".jsonl.run.json"};

/// Everything that a run leaves.
std::string result_of(const Folder& folder, const Case& one, const Finished& finished) {
  if (one.format == "-") return finished.out;
  const std::string file = file_of(folder, one);
  return content_of(file) + (one.format == "npy" ? read_file(file + ".jsonl") : "") +
         (one.mode == Mode::kShard ? read_file(file + ".done") : "");
}

/// The files before the first run: none, or those whose failed rows are tried again.
void prepare(const Photographs& photographs, const Case& one) {
  const std::string file = file_of(photographs.folder(), one);
  remove_files(file);
  if (one.mode != Mode::kRetry) return;
  const std::string kept = file + ".kept";
  if (!fs::exists(kept)) {
    photographs.damage();
    const Finished finished = run(call_of(photographs.folder(), one, false));
    photographs.repair();
    if (finished.status != 0) throw std::runtime_error(finished.err);
    for (const auto* part : kParts)
      if (fs::exists(file + part)) fs::rename(file + part, kept + part);
  }
  for (const auto* part : kParts)
    if (fs::exists(kept + part))
      fs::copy_file(kept + part, file + part, fs::copy_options::overwrite_existing);
}

std::vector<Case> cases(const Photographs& photographs) {
  std::vector<Case> all;
  for (const auto* format : {"csv", "jsonl", "db", "npy", "-"})
    for (const size_t threads : {1u, 2u})
      for (const Mode mode : {Mode::kPlain, Mode::kShard, Mode::kRetry}) {
        if (*format == '-' && mode != Mode::kPlain) continue;
        all.push_back({.format = format, .threads = threads, .mode = mode, .expected = {}});
      }
  for (Case& one : all) {
    prepare(photographs, one);
    const auto start = Clock::now();
    const Finished finished = run(call_of(photographs.folder(), one, one.mode == Mode::kRetry));
    one.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    EXPECT_EQ(finished.status, 0) << one.name() << finished.err;
    one.expected = result_of(photographs.folder(), one, finished);
    EXPECT_FALSE(one.expected.empty()) << one.name();
    remove_files(file_of(photographs.folder(), one));
  }
  return all;
}

class Rounds {
 public:
  explicit Rounds(const Photographs& photographs) : photographs_(photographs) {}

  /// Runs with signals until one of the runs has finished.
  void go(const Case& one) {
    prepare(photographs_, one);
    for (int in_a_row = 0;; ++in_a_row) {
      const bool calm = in_a_row == kMostInARow;
      const Finished finished = calm ? run(call(one)) : disturbed(one);
      if (!calm) ++ends_[finished.status];
      if (finished.status == 0) {
        EXPECT_EQ(result_of(photographs_.folder(), one, finished), one.expected)
            << one.name() << ": said that it is complete";
        break;
      }
      ASSERT_FALSE(calm) << one.name() << ": " << finished.err;
      check_stopped(one, finished);
    }
    remove_files(file_of(photographs_.folder(), one));
  }

  size_t signals() const { return signals_; }
  std::string summary() const {
    std::string text = std::to_string(signals_) + " signals:";
    for (const auto& [status, count] : ends_)
      text += " " + std::to_string(count) + " runs ended with " + std::to_string(status) + ",";
    return text + " " + std::to_string(between_rows_) + " of them with some rows written";
  }
  size_t between_rows() const { return between_rows_; }

 private:
  Call call(const Case& one) const {
    return call_of(photographs_.folder(), one, one.mode == Mode::kRetry);
  }

  Finished disturbed(const Case& one) {
    constexpr int kSignals[] = {SIGINT, SIGTERM, SIGKILL};
    signal_ = kSignals[random_() % 3];
    // A third of the signals come in the last part, where few rows are missing.
    const double from = random_() % 3 == 0 ? 0.6 : 0.0;
    const double part = std::uniform_real_distribution<double>(from, 1.1)(random_);
    Running running(call(one));
    std::this_thread::sleep_for(std::chrono::duration<double>(part * one.seconds));
    running.send(signal_);
    ++signals_;
    return running.wait();
  }

  void check_stopped(const Case& one, const Finished& finished) {
    // Before the handler is installed a signal has its default action.
    ASSERT_EQ(finished.status, 128 + signal_) << one.name() << ": " << finished.err;
    const std::string file = file_of(photographs_.folder(), one);
    // A signal may also come when all is written, before the program has ended.
    if (fs::exists(file + ".done")) {
      EXPECT_EQ(result_of(photographs_.folder(), one, finished), one.expected)
          << one.name() << ": marked as complete";
      return;
    }
    if (one.format != "-") {
      std::error_code none;
      between_rows_ += fs::file_size(file, none) > 3000 && !none ? 1 : 0;
      return;
    }
    between_rows_ += finished.out.size() > 3000 ? 1 : 0;
    EXPECT_TRUE(one.expected.starts_with(finished.out)) << "rows that are not the first ones";
    if (signal_ == SIGKILL) return;
    EXPECT_TRUE(finished.out.empty() || finished.out.ends_with('\n')) << "an incomplete row";
    EXPECT_THAT(finished.err, testing::AnyOf("", testing::MatchesRegex(
                                                     "vit: stopped( after [0-9]+ rows?)?; the rest "
                                                     "is missing\n")));
  }

  const Photographs& photographs_;
  std::mt19937 random_{20261118};
  int signal_ = 0;
  size_t signals_ = 0, between_rows_ = 0;
  std::map<int, size_t> ends_;
};

TEST(Signals, AtAnyMomentLoseNoRowAndNeverEndInAFalseSuccess) {
  const Photographs photographs;
  const auto all = cases(photographs);
  Rounds rounds_done(photographs);
  for (size_t i = 0; rounds_done.signals() < rounds(); ++i) {
    rounds_done.go(all[i % all.size()]);
    if (HasFatalFailure()) return;
  }
  std::printf("%s\n", rounds_done.summary().c_str());
  EXPECT_GT(rounds_done.between_rows(), 0u) << "no signal came between the first row and the last";
}

}  // namespace
}  // namespace vit::tools
