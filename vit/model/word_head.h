/// Labels in words to the rows of a classifier: zero-shot classification with a two-tower model.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "vit/base/matrix.h"
#include "vit/kernels/linear.h"
#include "vit/text/prompts.h"
#include "weights/text.h"

namespace vit {

class ThreadPool;

/// logit = scale · (image feature / its length) · row + bias.
struct WordHead {
  std::vector<std::string> labels;
  Matrix rows;           ///< [C, E], each of length 1
  float scale = 1.0f;    ///< exp(logit_scale)
  float bias = 0.0f;     ///< 0 where the model has none
  bool sigmoid = false;  ///< probabilities are independent, not a softmax over the labels
  std::vector<std::string> truncated;  ///< prompts that are longer than the text tower reads
};

struct WordHeadOptions {
  ThreadPool* pool = nullptr;  ///< null: the calling thread alone
  /// Files that may hold CLIP's list of merges, for models without a tokenizer beside them.
  std::span<const std::filesystem::path> clip_vocabularies{};
  /// Where rows are kept for the next time, by the content of model, tokenizer and prompts. Empty:
  /// nowhere. A folder that cannot be written to is not an error.
  std::filesystem::path cache{};
  std::function<void(size_t done, size_t prompts)> progress{};  ///< called by any thread
};

/// Per label: the feature of each prompt is divided by its length, their mean too. Throws an Error:
/// wrong labels, no tokenizer beside the weights, a broken one.
WordHead make_word_head(const weights::TextCheckpoint& text,
                        std::span<const text::WordLabel> labels,
                        const WordHeadOptions& options = {});

/// The labels as a classifier computes them: the numbers of a model that set_classes() gave these,
/// to the bit.
struct WordClassifier {
  std::vector<std::string> labels;
  Linear linear;         ///< scaled rows and bias
  bool sigmoid = false;  ///< as in WordHead
};

WordClassifier word_classifier(const WordHead& head, Isa isa);

/// One logit for each label. `feature` [E] is the image tower's, of any length above 0.
std::vector<float> word_logits(const WordClassifier& classifier, std::span<const float> feature);

/// The rows times the scale, [C, E]: the weights of the classifier.
Matrix scaled_rows(const WordHead& head);

}  // namespace vit
