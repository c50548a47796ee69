#include "tools/train/run.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <map>
#include <optional>
#include <span>

#include "tools/cli/progress.h"
#include "tools/cli/stop_signals.h"
#include "tools/output/file.h"
#include "tools/output/format.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"
#include "tools/train/curves.h"
#include "tools/train/events.h"
#include "tools/train/final_report.h"
#include "vit/base/hash.h"
#include "vit/train/evaluate.h"
#include "vit/train/export.h"
#include "vit/train/trainer.h"

namespace vit::tools {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class TrainingRun {
 public:
  TrainingRun(const TrainSettings& settings, RunInput input, ThreadPool& pool)
      : settings_(settings),
        input_(std::move(input)),
        pool_(pool),
        description_(describe(Wording::kNames)),
        fingerprint_(fingerprint()),
        events_start_(static_cast<double>(std::time(nullptr))),
        trainer_(first_network(), input_.source(), settings.training, pool, fingerprint_) {}

  int train() {
    if (settings_.resume) resume();
    started_ = saved_ = Clock::now();
    while (!trainer_.done() && !out_of_patience()) {
      while (!trainer_.epoch_done()) {
        if (stop_wanted()) return stop();
        step();
      }
      if (stop_wanted()) return stop();
      if (!finish_epoch()) return stop();
    }
    signals_.reset();  // from here on Ctrl-C ends the program
    report_end();
    return 0;
  }

 private:
  std::string describe(Wording wording) const {
    return describe_run(settings_, input_.network.config, input_.source(), wording);
  }

  /// Of the weights before `start`, which a resumed run does not call.
  std::uint64_t fingerprint() const {
    Hash hash;
    hash.add(describe(Wording::kNumbers));
    hash.add_row(input_.network.numbers.data(), input_.network.numbers.size());
    hash.add(input_.data_fingerprint);
    return hash.value();
  }

  gradient::Network<float> first_network() {
    if (!settings_.resume) input_.start_network();
    input_.start = nullptr;  // it holds the weights of the model that the run starts from
    return std::move(input_.network);
  }

  std::filesystem::path checkpoint() const { return settings_.beside(".checkpoint"); }

  void resume() {
    if (!std::filesystem::exists(checkpoint()))
      fail_at(checkpoint().string(), "no such checkpoint; start without --resume");
    try {
      trainer_.restore(checkpoint());
    } catch (const Error& error) {
      fail_again(error, "; repeat the command of that run, or start again with --restart");
    }
    write_output("continuing after epoch " + std::to_string(trainer_.state().epoch) + ", step " +
                 std::to_string(trainer_.state().step) + "\n");
    if (trainer_.state().history.empty()) return;
    write_history();  // a kill may have come between the checkpoint and the log
    if (!std::filesystem::exists(settings_.output)) replace_lost_model();
  }

  void write_history() const {
    write_log(settings_.beside(".csv"), trainer_.state().history);
    write_file(settings_.beside(".png"), encode_picture(curves(), ".png"));
    if (settings_.events)
      write_events(settings_.beside(".tensorboard"), trainer_.state().history, events_start_);
  }

  Picture curves() const {
    return curves_picture(settings_.output.filename().string(), trainer_.state().history);
  }

  /// If the best model is missing, the checkpoint's weights replace it.
  void replace_lost_model() {
    trainer_.forget_best();
    const train::State& state = trainer_.state();
    const bool validated = state.step == 0;  // they are those of the last epoch
    export_weights(validated ? &state.history.back() : nullptr);
    save();
    write_message(settings_.output.string() +
                  ": was missing; the weights of the checkpoint replace it");
  }

  bool stop_wanted() const { return signals_->number() != 0; }

  int stop() {
    save();
    line_.clear();
    write_message("stopped in epoch " + std::to_string(trainer_.state().epoch + 1) +
                  (settings_.restart
                       ? "; the same command with --resume in place of --restart continues"
                       : "; the same command with --resume continues"));
    return 128 + signals_->number();
  }

  void save() {
    train::save_state(checkpoint(), trainer_.state());
    saved_ = Clock::now();
  }

  void step() {
    trainer_.step();
    ++steps_;
    line_.update([&](size_t) { return progress(); });
    if (seconds_since(saved_) >= settings_.save_every) save();
  }

  double seconds_left() const {
    const auto& state = trainer_.state();
    const double per_step = seconds_since(started_) / static_cast<double>(steps_);
    const auto left = (settings_.training.epochs - state.epoch) * trainer_.steps_per_epoch();
    return per_step * static_cast<double>(left - state.step);
  }

  std::string progress() const {
    const auto& state = trainer_.state();
    const auto seen = static_cast<double>(state.seen);
    const double part =
        static_cast<double>(state.step) / static_cast<double>(trainer_.steps_per_epoch());
    return "epoch " + std::to_string(state.epoch + 1) + "/" +
           std::to_string(settings_.training.epochs) + " " + percent_bar(part) + "  loss " +
           formatted("%.4f", state.sum.loss / seen) + "  accuracy " +
           format_percent(static_cast<double>(state.sum.correct) / seen) + "  " +
           formatted("%.0f images/s", seen / state.seconds) + "  " + format_time(seconds_left()) +
           " left";
  }

  /// Whether none of the last `patience` epochs was the best so far.
  bool out_of_patience() const {
    const auto rows = compared();
    if (settings_.patience == 0 || rows.size() <= settings_.patience) return false;
    const auto worse = [](const train::EpochRow& a, const train::EpochRow& b) {
      return a.validation_accuracy < b.validation_accuracy ||
             (a.validation_accuracy == b.validation_accuracy &&
              a.validation_loss > b.validation_loss);
    };
    const auto best = std::ranges::max_element(rows, worse);
    return rows.end() - best > static_cast<std::ptrdiff_t>(settings_.patience);
  }

  /// At equal accuracy the smaller loss decides: ties are frequent with few validation images.
  bool is_best(const train::Score& score) const {
    return std::ranges::none_of(compared(), [&](const train::EpochRow& row) {
      return row.validation_accuracy > score.accuracy ||
             (row.validation_accuracy == score.accuracy && row.validation_loss <= score.loss);
    });
  }

  std::span<const train::EpochRow> compared() const {
    return std::span(trainer_.state().history).subspan(trainer_.state().first_compared);
  }

  /// False: a stop signal came during the validation, which --resume repeats.
  bool finish_epoch() {
    const train::Score score = train::evaluate(trainer_.merge_average(), input_.dataset.validation,
                                               input_.recipe, &pool_, &signals_->flag());
    if (score.stopped) return false;
    const bool best = is_best(score);
    trainer_.finish_epoch(score.loss, score.accuracy);
    if (best) export_weights(&trainer_.state().history.back());
    save();
    write_history();
    show_epoch(trainer_.state().history.back(), best);
    return true;
  }

  /// `validated`: the figures of these weights, if known.
  void export_weights(const train::EpochRow* validated) {
    std::map<std::string, std::string> notes{{"training", description_}};
    if (validated != nullptr) {
      notes["validation_accuracy"] = formatted("%.4f", validated->validation_accuracy);
      notes["epoch"] = std::to_string(validated->epoch);
    }
    train::export_model(settings_.output, trainer_.merge_average(), input_.recipe,
                        input_.dataset.labels,
                        {.dtype = settings_.half ? weights::DType::kF16 : weights::DType::kF32,
                         .wordnet_ids = input_.dataset.wordnet_ids,
                         .notes = std::move(notes)});
  }

  void show_epoch(const train::EpochRow& row, bool best) {
    line_.clear();
    std::string line =
        "epoch " + std::to_string(row.epoch) + "/" + std::to_string(settings_.training.epochs) +
        "  loss " + formatted("%.4f", row.train_loss) + "  accuracy " +
        format_percent(row.train_accuracy) + "  validation: loss " +
        formatted("%.4f", row.validation_loss) + "  accuracy " +
        format_percent(row.validation_accuracy) + (best ? " (best)" : "") + "  " +
        formatted("%.0f images/s", static_cast<double>(trainer_.images_per_epoch()) / row.seconds);
    if (!trainer_.done() && steps_ > 0) line += "  " + format_time(seconds_left()) + " left";
    write_output(line + "\n");
  }

  void report_end() const {
    if (!trainer_.done())
      write_output("stopped early: no better validation accuracy in " +
                   std::to_string(settings_.patience) +
                   (settings_.patience == 1 ? " epoch\n" : " epochs\n"));
    const double best =
        std::ranges::max(compared(), {}, &train::EpochRow::validation_accuracy).validation_accuracy;
    write_output("best validation accuracy " + format_percent(best) + " on " +
                 std::to_string(input_.dataset.validation.size()) + " images, model " +
                 printable(settings_.output.string()) + "\n");
    report_model(settings_, input_.dataset, curves());
  }

  const TrainSettings& settings_;
  RunInput input_;  // without its network, which the trainer owns
  ThreadPool& pool_;
  std::string description_;
  std::uint64_t fingerprint_;  // of the weights before first_network() gives them away
  double events_start_;
  train::Trainer trainer_;
  Clock::time_point started_;
  Clock::time_point saved_;
  size_t steps_ = 0;  ///< of this process
  ProgressLine line_;
  std::optional<StopSignals> signals_{std::in_place};
};

}  // namespace

int run_training(const TrainSettings& settings, RunInput input, ThreadPool& pool) {
  return TrainingRun(settings, std::move(input), pool).train();
}

}  // namespace vit::tools
