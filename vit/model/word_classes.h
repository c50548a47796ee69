/// From a two-tower checkpoint and words to the checkpoint of an ordinary classifier.
#pragma once

#include <filesystem>

#include "vit/model/word_head.h"
#include "vit/model/words.h"
#include "weights/checkpoint.h"

namespace vit {

struct ClassifierOptions;

/// Whether words can be the model's classes.
bool has_text_tower(const std::filesystem::path& model);

/// Files besides the model's own that may hold CLIP's vocabulary.
std::vector<std::filesystem::path> known_clip_vocabularies();

/// The sentence for a label, where nothing else is said: "a photo of a cat.", or SigLIP's
/// "This is a photo of cat."; a label with an article of its own gets no second one.
std::string usual_prompt(const std::string& label, bool sigmoid);
/// For labels that have no prompt.
void set_usual_prompts(std::vector<text::WordLabel>& labels, bool sigmoid);

/// The head becomes the classifier of an image tower: projection to the shared space, length 1,
/// one row per label. Throws an Error if the towers do not fit each other, or if `none_of_these` is
/// out of range.
void set_classes(weights::Checkpoint& image, const WordHead& head,
                 std::optional<double> none_of_these = {});

struct WordOpenOptions {
  const WordClasses* words = nullptr;  ///< null: the checkpoint as it is
  size_t heads = 0;                    ///< see weights::OpenOptions
  size_t threads = 0;                  ///< for texts; 0: all that this process may use
};

/// Opens a model, a file or a folder, with its own classes or with these. Without words, the output
/// of a two-tower model is its features, not classes. Rows are kept in the cache
/// folder of models (weights/store.h), by the content of weights, tokenizer and prompts; CLIP's
/// vocabulary is taken from there where none is beside the weights.
weights::Checkpoint open_with_words(const std::filesystem::path& model,
                                    const WordOpenOptions& options);

/// As Classifier::load() does.
weights::Checkpoint open_checkpoint(const std::filesystem::path& model,
                                    const ClassifierOptions& options);

}  // namespace vit
