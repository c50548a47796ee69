#include <algorithm>

#include "vit/train/trainer.h"

namespace vit::train {
namespace {

/// What one worker computes with.
struct Worker {
  gradient::Trace<float> trace;
  PatchScratch scratch;
  Matrix patches;
};

struct Chunk {
  std::span<const data::Sample> samples;
  std::span<size_t> predictions;
};

LossSum evaluate_chunk(const gradient::NetworkView<float>& network, const Recipe& recipe,
                       const Chunk& chunk, Worker& worker) {
  const ModelConfig& config = network.config;
  const size_t each = config.embedding.grid().count(), count = chunk.samples.size();
  Matrix targets(count, config.head.classes);
  for (size_t i = 0; i < count; ++i) {
    make_patches(chunk.samples[i].image, recipe, config, worker.scratch,
                 worker.patches.view().row_range(i * each, each));
    set_label(chunk.samples[i].label, 0.0, targets.view().row_span(i));
  }
  const ConstMatrixView logits = gradient::forward<float>(
      network, {.patches = worker.patches.view().row_range(0, count * each), .images = count},
      worker.trace);
  for (size_t i = 0; i < count; ++i) {
    const auto row = logits.row_span(i);
    chunk.predictions[i] =
        static_cast<size_t>(std::max_element(row.begin(), row.end()) - row.begin());
  }
  return cross_entropy(logits, targets, 1.0, {});
}

}  // namespace

size_t images_at_once(size_t tokens, Operands operands) {
  const size_t rows = operands == Operands::kBf16 ? 1024 : 512;
  return std::max<size_t>(1, rows / tokens);
}

void answer_questions(const gradient::NetworkView<float>& network, const Recipe& recipe,
                      const Questions& questions, ThreadPool* pool) {
  const auto& embedding = network.config.embedding;
  const size_t together = images_at_once(embedding.tokens(), network.operands);
  const size_t each = embedding.grid().count();
  std::vector<Worker> workers(pool == nullptr ? 1 : pool->size());
  for (Worker& worker : workers) worker.patches = Matrix(together * each, embedding.patch_size());
  parallel_for(pool, (questions.count + together - 1) / together, [&](size_t chunk, size_t at) {
    Worker& worker = workers[at];
    const size_t first = chunk * together, count = std::min(together, questions.count - first);
    for (size_t i = 0; i < count; ++i)
      make_patches(questions.image(first + i), recipe, network.config, worker.scratch,
                   worker.patches.view().row_range(i * each, each));
    const ConstMatrixView logits = gradient::forward<float>(
        network, {.patches = worker.patches.view().row_range(0, count * each), .images = count},
        worker.trace);
    for (size_t i = 0; i < count; ++i) questions.answer(first + i, logits.row_span(i));
  });
}

Score evaluate(const gradient::NetworkView<float>& network,
               const std::vector<data::Sample>& samples, const Recipe& recipe, ThreadPool* pool,
               const std::atomic<bool>* stop) {
  const size_t together = images_at_once(network.config.embedding.tokens(), network.operands);
  std::vector<Worker> workers(pool == nullptr ? 1 : pool->size());
  for (Worker& worker : workers)
    worker.patches = Matrix(together * network.config.embedding.grid().count(),
                            network.config.embedding.patch_size());
  Score score;
  score.predictions.resize(samples.size());
  std::atomic<bool> stopped{false};
  std::vector<LossSum> sums((samples.size() + together - 1) / together);
  parallel_for(pool, sums.size(), [&](size_t i, size_t worker) {
    if (stop != nullptr && *stop) stopped = true;
    if (stopped) return;
    const size_t first = i * together, count = std::min(together, samples.size() - first);
    const Chunk chunk{std::span(samples).subspan(first, count),
                      std::span(score.predictions).subspan(first, count)};
    sums[i] = evaluate_chunk(network, recipe, chunk, workers[worker]);
  });
  LossSum sum;
  for (const LossSum& part : sums) sum += part;
  const auto count = static_cast<double>(std::max<size_t>(1, samples.size()));
  score.loss = sum.loss / count;
  score.accuracy = static_cast<double>(sum.correct) / count;
  score.stopped = stopped;
  return score;
}

}  // namespace vit::train
