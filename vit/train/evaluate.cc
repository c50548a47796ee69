#include "vit/train/evaluate.h"

#include <algorithm>

#include "vit/base/thread_pool.h"
#include "vit/train/batch.h"
#include "vit/train/loss.h"

namespace vit::train {
namespace {

/// What one worker computes with.
struct Worker {
  gradient::Trace<float> trace;
  PatchScratch scratch;
  patch::Image image;
  Matrix patches;
};

/// Finds the most likely classes of some samples, and how wrong that is.
LossSum mark(ConstMatrixView logits, std::span<const data::Sample> samples,
             std::span<size_t> predictions) {
  Matrix targets(logits.rows, logits.cols);
  for (size_t i = 0; i < logits.rows; ++i) {
    set_label(samples[i].label, 0.0, targets.view().row_span(i));
    const auto row = logits.row_span(i);
    predictions[i] = static_cast<size_t>(std::max_element(row.begin(), row.end()) - row.begin());
  }
  return cross_entropy(logits, targets, 1.0, {});
}

}  // namespace

size_t images_at_once(size_t tokens, Operands operands) {
  const size_t rows = operands == Operands::kBf16 ? 1024 : 512;
  return std::max<size_t>(1, rows / tokens);
}

bool answer_questions(const gradient::NetworkView<float>& network, const Recipe& recipe,
                      const Questions& questions, ThreadPool* pool) {
  const auto& embedding = network.config.embedding;
  const size_t together = images_at_once(embedding.tokens(), network.rows.operands);
  const size_t each = embedding.grid().count();
  std::vector<Worker> workers(pool == nullptr ? 1 : pool->size());
  for (Worker& worker : workers) worker.patches = Matrix(together * each, embedding.patch_size());
  std::atomic<bool> stopped{false};
  parallel_for(pool, (questions.count + together - 1) / together, [&](size_t group, size_t at) {
    if (questions.stop != nullptr && *questions.stop) stopped = true;
    if (stopped) return;
    Worker& worker = workers[at];
    const size_t first = group * together, count = std::min(together, questions.count - first);
    for (size_t i = 0; i < count; ++i)
      make_patches(questions.image(first + i, worker.image), recipe, network.config, worker.scratch,
                   worker.patches.view().row_range(i * each, each));
    questions.answers(
        first,
        gradient::forward<float>(
            network, {.patches = worker.patches.view().row_range(0, count * each), .images = count},
            worker.trace));
  });
  return !stopped;
}

Score evaluate(const gradient::NetworkView<float>& network,
               const std::vector<data::Sample>& samples, const Recipe& recipe, ThreadPool* pool,
               const std::atomic<bool>* stop) {
  Score score;
  score.predictions.resize(samples.size());
  std::vector<LossSum> sums(samples.size());  // of each group, at its first sample
  score.stopped = !answer_questions(
      network, recipe,
      {.count = samples.size(),
       .image = [&](size_t i, patch::Image&) -> const patch::Image& { return samples[i].image; },
       .answers =
           [&](size_t first, ConstMatrixView logits) {
             sums[first] = mark(logits, std::span(samples).subspan(first, logits.rows),
                                std::span(score.predictions).subspan(first, logits.rows));
           },
       .stop = stop},
      pool);
  LossSum sum;
  for (const LossSum& part : sums) sum += part;
  const auto count = static_cast<double>(std::max<size_t>(1, samples.size()));
  score.loss = sum.loss / count;
  score.accuracy = static_cast<double>(sum.correct) / count;
  return score;
}

}  // namespace vit::train
