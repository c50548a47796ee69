/// From a two-tower checkpoint and words to the checkpoint of an ordinary classifier.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "vit/model/words.h"
#include "weights/checkpoint.h"

namespace vit {

/// Files besides the model's own that may hold CLIP's vocabulary.
std::vector<std::filesystem::path> known_clip_vocabularies();

/// Gives labels without prompts the usual sentence: "a photo of a cat.", or SigLIP's "This is a
/// photo of cat."; a label with an article of its own gets no second one.
void set_usual_prompts(std::vector<text::WordLabel>& labels, bool sigmoid);

/// Replaces the classes of an open model; without a text tower, it gets other names for its own.
/// Rows are kept in the cache folder of models (weights/store.h), by the content of weights,
/// tokenizer and prompts; CLIP's vocabulary is taken from there where none is beside the weights.
/// `threads` encode the prompts; 0: all that this process may use. Throws an Error if the towers do
/// not fit each other, the text tower is damaged, or `none_of_these` is out of range.
void set_classes(weights::Checkpoint& model, const WordClasses& words, size_t threads = 0);

/// Without words, the output of a two-tower model is its features, also where its file stores the
/// projection to them as a classifier.
void set_features_as_output(weights::Checkpoint& model);

}  // namespace vit
