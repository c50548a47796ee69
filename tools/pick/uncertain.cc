#include "tools/pick/uncertain.h"

#include <cmath>
#include <unordered_map>

#include "patch/image/pixel_budget.h"
#include "tools/cli/progress.h"
#include "tools/cli/stop_signals.h"
#include "tools/inputs/inputs.h"
#include "tools/output/format.h"
#include "tools/output/reason.h"
#include "tools/output/terminal.h"
#include "tools/rows/class_rows.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

/// Images between two updates of the progress display.
constexpr size_t kPieceImages = 64;
constexpr size_t kMostReports = 10;
constexpr size_t kGuesses = 2;

std::string guesses_text(std::span<const Prediction> best) {
  std::string text;
  for (const auto& guess : best.first(std::min(kGuesses, best.size())))
    text += (text.empty() ? "" : ", ") + guess.label + " " + format_percent(guess.probability, 0);
  return text;
}

/// Classifies the images of an index, as many at a time as there are workers.
class Doubting {
 public:
  Doubting(const index::Index& index, const ModelSettings& settings)
      : index_(index),
        settings_(settings),
        classifier_(load_with_classes(settings)),
        rows_(index::live_rows(index.vectors)),
        budget_(settings.max_pixels),
        progress_(run_display(settings.quiet, false)) {}

  ModelDoubts go() {
    for (size_t first = 0; first < rows_.size() && !signals_.flag(); first += kPieceImages) {
      const size_t count = std::min(kPieceImages, rows_.size() - first);
      std::vector<Doubt> piece(count);
      std::vector<std::string> problems(count);
      const std::vector<Input> inputs = inputs_of(std::span(rows_).subspan(first, count));
      classifier_.for_each(count, [&](size_t i, Runner& runner) {
        piece[i].row = rows_[first + i];
        problems[i] = look_at(inputs[i], piece[i], runner);
      });
      if (signals_.flag()) break;
      take(piece, problems);
      show(first + count);
    }
    progress_.clear();
    if (result_.failed > kMostReports)
      write_message("... and " + format_count(result_.failed - kMostReports) + " more that failed");
    if (signals_.flag()) result_.stopped = signals_.exit_status();
    return std::move(result_);
  }

 private:
  std::vector<Input> inputs_of(std::span<const size_t> rows) {
    std::vector<Input> inputs;
    for (const size_t row : rows)
      inputs.push_back(
          input_of_row(1, std::string(index_.entries[row].path), signals_.flag(), finder_));
    return inputs;
  }

  /// In any thread. Returns why there is no answer; empty if there is one.
  std::string look_at(const Input& input, Doubt& doubt, Runner& runner) {
    try {
      const patch::Image image = load_image(input, settings_.decoding(&budget_, &signals_.flag()));
      const auto logits = runner.logits(image);
      check_answer(logits);
      const auto best = classifier_.top(classifier_.probabilities(logits), kGuesses);
      doubt.score = doubt_of(best, classifier_.config().head.multi_label);
      doubt.guesses = guesses_text(best);
    } catch (const std::exception& error) {
      return input.path + ": " + reason_of(error, input.path);
    }
    return {};
  }

  void take(std::span<Doubt> piece, std::span<const std::string> problems) {
    for (size_t i = 0; i < piece.size(); ++i) {
      if (problems[i].empty()) {
        result_.doubts.push_back(std::move(piece[i]));
      } else if (++result_.failed <= kMostReports) {
        progress_.clear();
        write_message(problems[i]);
      }
    }
  }

  void show(size_t done) {
    progress_.update({.done = done,
                      .failed = result_.failed,
                      .total = rows_.size(),
                      .seconds = progress_.seconds()});
  }

  const index::Index& index_;
  const ModelSettings& settings_;
  StopSignals signals_;
  Classifier classifier_;
  std::vector<size_t> rows_;
  InputFinder finder_;
  patch::PixelBudget budget_;  ///< shared by the workers, with its own lock
  ProgressLine progress_;
  ModelDoubts result_{};
};

}  // namespace

float doubt_of(std::span<const Prediction> best, bool multi_label) {
  if (best.empty()) return 1.0f;
  if (multi_label) return 1.0f - std::abs(2.0f * best.front().probability - 1.0f);
  const float second = best.size() > 1 ? best[1].probability : 0.0f;
  return 1.0f - (best.front().probability - second);
}

std::vector<Doubt> doubts_of_results(const index::Index& index, const fs::path& results) {
  const ClassRows source = find_class_rows(results);
  std::unordered_map<std::string_view, size_t> rows;
  for (const size_t row : index::live_rows(index.vectors))
    rows.emplace(index.entries[row].path, row);
  std::vector<Doubt> doubts;
  std::vector<std::vector<Prediction>> best;
  bool multi_label = false;
  Results file = source.open();
  while (auto row = file.next()) {
    const std::string path = fs::absolute(row->path).lexically_normal().string();
    const auto found = rows.find(path);
    if (found == rows.end() || row->failed || row->predictions.empty()) continue;
    multi_label = multi_label || are_independent(row->predictions);
    doubts.push_back({.row = found->second, .guesses = guesses_text(row->predictions)});
    row->predictions.resize(std::min(kGuesses, row->predictions.size()));
    best.push_back(std::move(row->predictions));
    rows.erase(found);  // a path that is listed twice counts once
  }
  for (size_t i = 0; i < doubts.size(); ++i) doubts[i].score = doubt_of(best[i], multi_label);
  if (doubts.empty())
    fail_at(results.string(), "has no row of an image of the index; relative names are looked up ",
            "in this folder: run it where `vit batch` ran");
  return doubts;
}

ModelDoubts doubts_of_model(const index::Index& index, const ModelSettings& settings) {
  return Doubting(index, settings).go();
}

}  // namespace vit::tools
