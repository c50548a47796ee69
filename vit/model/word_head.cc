#include "vit/model/word_head.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "vit/base/error.h"
#include "vit/base/thread_pool.h"
#include "vit/model/unit_length.h"
#include "vit/model/word_encoder.h"
#include "vit/model/word_head_cache.h"

namespace vit {
namespace {

/// Sums in double: a mean of 80 prompts is to be as exact as a single one.
double length_of(std::span<const double> numbers) {
  double squares = 0.0;
  for (const double x : numbers) squares += x * x;
  return std::sqrt(squares);
}

/// The mean of the features, each of length 1, scaled to length 1 itself.
void average(ConstMatrixView features, std::span<float> row, const std::string& where) {
  std::vector<double> sum(row.size()), one(row.size());
  for (size_t r = 0; r < features.rows; ++r) {
    std::copy_n(features.row(r), one.size(), one.begin());
    const double length = length_of(one);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += one[i] / length;
  }
  const double length = length_of(sum);
  for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>(sum[i] / length);
  for (const float x : row)
    if (!std::isfinite(x))
      fail_at(where, "its text feature is ", x, ", which no image can be compared to");
}

std::vector<text::TokenSequence> tokens_of(const text::Tokenizer& tokenizer, size_t context,
                                           std::span<const text::WordLabel> labels,
                                           ThreadPool* pool) {
  std::vector<const std::string*> prompts;
  for (const auto& label : labels)
    for (const auto& prompt : label.prompts) prompts.push_back(&prompt);
  std::vector<text::TokenSequence> tokens(prompts.size());
  parallel_for(pool, prompts.size(), [&](size_t i, size_t) {
    tokens[i] = text::encode(tokenizer, *prompts[i], context);
  });
  return tokens;
}

WordRows compute(const WordEncoder& encoder, std::span<const text::WordLabel> labels,
                 const WordHeadOptions& options) {
  const size_t context = encoder.checkpoint.config.context;
  const auto tokens = tokens_of(encoder.tokenizer, context, labels, options.pool);
  text::TextBatch batch{.texts = tokens, .pool = options.pool};
  if (options.progress)
    batch.progress = [&](size_t done) { options.progress(done, tokens.size()); };
  const Matrix features = text::encode_texts(encoder.tower, batch);

  WordRows result{Matrix(labels.size(), features.cols()), {}};
  size_t next = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    const size_t count = labels[i].prompts.size();
    average(features.view().row_range(next, count), result.rows.view().row_span(i),
            encoder.checkpoint.tower.path + ": label '" + labels[i].name + "'");
    next += count;
  }
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i].truncated) result.truncated.push_back(i);
  return result;
}

std::vector<std::string> prompts_at(std::span<const text::WordLabel> labels,
                                    std::span<const std::uint64_t> indices) {
  std::vector<std::string> prompts;
  size_t first = 0, next = 0;
  for (const auto& label : labels) {
    const size_t end = first + label.prompts.size();
    for (; next < indices.size() && indices[next] < end; ++next)
      prompts.push_back(label.prompts[indices[next] - first]);
    first = end;
  }
  return prompts;
}

void check_words(std::span<const text::WordLabel> labels, const std::string& where) {
  text::check_labels(labels, where);
  for (const auto& label : labels)
    if (label.prompts.empty())
      fail_at(where, "label '", label.name,
              "' has no prompt, expected a template or prompts of its own");
}

WordHead head_of(const weights::TextCheckpoint& text, std::span<const text::WordLabel> labels,
                 WordRows rows) {
  WordHead head{.labels = {},
                .rows = std::move(rows.rows),
                .scale = text.scale,
                .bias = text.bias,
                .sigmoid = text.sigmoid,
                .truncated = prompts_at(labels, rows.truncated)};
  for (const auto& label : labels) head.labels.push_back(label.name);
  return head;
}

}  // namespace

WordHead make_word_head(const weights::TextCheckpoint& text,
                        std::span<const text::WordLabel> labels, const WordHeadOptions& options) {
  check_words(labels, text.tower.path);
  const bool cached = !options.cache.empty();
  const WordHeadKey key = cached ? key_of(text, labels, options.clip_vocabularies) : WordHeadKey{};
  std::optional<WordRows> known;
  if (cached) known = read_word_rows(options.cache, key, labels.size(), text.config.features);
  if (!known) {
    known = compute(load_word_encoder(text, options.clip_vocabularies), labels, options);
    if (cached) write_word_rows(options.cache, key, *known);
  }
  return head_of(text, labels, std::move(*known));
}

WordHead make_word_head(const WordEncoder& encoder, std::span<const text::WordLabel> labels,
                        ThreadPool* pool) {
  check_words(labels, encoder.checkpoint.tower.path);
  return head_of(encoder.checkpoint, labels, compute(encoder, labels, {.pool = pool}));
}

Matrix scaled_rows(const WordHead& head) {
  Matrix rows(head.rows.rows(), head.rows.cols());
  std::transform(head.rows.data(), head.rows.data() + rows.size(), rows.data(),
                 [&](float x) { return head.scale * x; });
  return rows;
}

WordClassifier word_classifier(const WordHead& head, Isa isa) {
  const Matrix rows = scaled_rows(head);
  const auto read = [&](size_t first, size_t count, float* out) {
    std::copy_n(rows.data() + first * rows.cols(), count * rows.cols(), out);
  };
  const std::vector<float> bias(head.bias == 0.0f ? 0 : rows.rows(), head.bias);
  return {.labels = head.labels,
          .linear = pack_linear(rows.rows(), rows.cols(), read, bias, isa),
          .sigmoid = head.sigmoid};
}

std::vector<float> word_logits(const WordClassifier& classifier, std::span<const float> feature) {
  assert(feature.size() == classifier.linear.in);
  std::vector<float> image(feature.begin(), feature.end()), logits(classifier.linear.out);
  scale_to_unit(image);
  apply(classifier.linear, {image.data(), 1, image.size()}, {logits.data(), 1, logits.size()},
        {nullptr, classifier.linear.isa});
  return logits;
}

}  // namespace vit
