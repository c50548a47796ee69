#include "tools/search/queries.h"

#include <algorithm>
#include <optional>

#include "tools/cli/image_input.h"
#include "tools/indexed/features.h"
#include "tools/output/terminal.h"
#include "tools/rows/header.h"
#include "vit/base/error.h"
#include "vit/model/load_text.h"
#include "vit/model/word_classes.h"
#include "vit/text/load.h"
#include "weights/store.h"

namespace vit::tools {
namespace {

bool is_sign(std::string_view operand) {
  return operand == "+" || operand == "-";
}

Term parse_term(std::string_view operand) {
  Term term;
  term.image = operand.starts_with(kImageMark);
  if (term.image) operand.remove_prefix(kImageMark.size());
  if (operand.empty())
    fail_usage(term.image ? "'image:' without a file name, expected image:FILE"
                          : "an empty text to search for, expected words or image:FILE");
  term.content = operand;
  return term;
}

/// The text tower of the model, loaded when the first text comes.
class TextFeatures {
 public:
  explicit TextFeatures(const std::filesystem::path& model)
      : checkpoint_(weights::open_text(model)),
        tokenizer_(text::load_tokenizer(checkpoint_, known_clip_vocabularies())),
        tower_(load_text_tower(checkpoint_)) {}

  size_t width() const { return checkpoint_.config.features; }

  std::vector<float> of(const std::string& words) {
    const auto tokens = text::encode(tokenizer_, words, checkpoint_.config.context);
    if (tokens.truncated)
      write_message("'" + words + "': longer than the " +
                    std::to_string(checkpoint_.config.context) +
                    " tokens of the model; the end is left out");
    std::vector<float> feature(width());
    text::encode_text(tower_, tokens, workspace_, feature);
    return feature;
  }

 private:
  weights::TextCheckpoint checkpoint_;
  text::Tokenizer tokenizer_;
  text::TextTower tower_;
  text::TextWorkspace workspace_;
};

/// Loads models when they are needed, and checks that they are the model of the index.
class QueryVectors {
 public:
  QueryVectors(ModelSettings settings, const std::filesystem::path& path, const index::Index& index)
      : settings_(std::move(settings)),
        path_(path),
        index_(index),
        description_(description_of(path, index)) {
    if (settings_.model.empty() && description_.contains("model_path"))
      settings_.model = description_["model_path"].get<std::string>();
    if (settings_.model.empty())
      fail_usage(path.string(), ": does not say where its model is; give it with -m (",
                 description_["model"].get<std::string>(), ")");
  }

  void add(const Term& term, std::span<float> sum) {
    std::vector<float> vector = term.image ? of_image(term.content) : of_text(term.content);
    if (!index::normalize(vector)) fail("'", term.content, "': its features are all zero");
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += term.sign * vector[i];
  }

 private:
  std::vector<float> of_image(const std::string& file) {
    if (!maker_) {
      std::optional<std::string> which;
      const Json& options = description_["options"];
      if (options.is_object() && options.contains("features"))
        which = options["features"].get<std::string>();
      maker_.emplace(settings_, which);
      check_description(path_, description_, maker_->description(),
                        "search with the model and the options of the index, or index again");
    }
    const patch::Image image = read_image_input(file, settings_.decoding());
    say_damage(file, image);
    Runner runner = maker_->classifier().shared_runner();
    try {
      return maker_->vector_of(image, runner);
    } catch (const Error& error) {
      fail_at(shown_name(file), error.what());
    }
  }

  std::vector<float> of_text(const std::string& words) {
    if (!texts_) {
      const auto model = weights::find_model(settings_.model);
      const std::string digest = model_digest(model), stored = description_["model_sha256"];
      if (digest != stored)
        fail_at(path_.string(), "was made with another model: its weights have the sha256 ", stored,
                ", those of ", model.string(), " have ", digest,
                "; search with the model of the index, or index again");
      const Json& options = description_["options"];
      if (!options.is_object() || !options.contains("features") || options["features"] != "output")
        fail_at(path_.string(),
                "its vectors are not the model's output, so they cannot be compared ",
                "with texts; search with --image, or index again with a two-tower model");
      texts_.emplace(model);
      if (texts_->width() != index_.format.width)
        fail_at(path_.string(), "has vectors of ", index_.format.width,
                " numbers, those of texts have ", texts_->width(), "; index again with this model");
    }
    return texts_->of(words);
  }

  ModelSettings settings_;
  const std::filesystem::path& path_;
  const index::Index& index_;
  Json description_;
  std::optional<FeatureMaker> maker_;
  std::optional<TextFeatures> texts_;
};

}  // namespace

std::vector<Query> parse_queries(std::span<const std::string> operands,
                                 std::span<const std::string> images) {
  std::vector<Query> queries;
  std::string sign;
  for (const auto& operand : operands) {
    if (is_sign(operand)) {
      if (queries.empty() || !sign.empty())
        fail_usage("'", operand, "' without a text or an image before it, expected them as in ",
                   "\"horse\" + \"stripes\" - image:grass.jpg");
      sign = operand;
      continue;
    }
    Term term = parse_term(operand);
    if (sign.empty()) {
      queries.push_back({operand, {std::move(term)}});
      continue;
    }
    if (sign == "-") term.sign = -1.0f;
    queries.back().label += " " + sign + " " + operand;
    queries.back().terms.push_back(std::move(term));
    sign.clear();
  }
  if (!sign.empty()) fail_usage("'", sign, "' without a text or an image after it");
  for (const auto& image : images)
    queries.push_back({std::string(kImageMark) + image, {{.image = true, .content = image}}});
  if (queries.empty())
    fail_usage("nothing to search for, expected --image FILE, image:FILE or a text");
  return queries;
}

Matrix vectors_of_queries(std::span<const Query> queries, ModelSettings settings,
                          const std::filesystem::path& path, const index::Index& index) {
  QueryVectors vectors(std::move(settings), path, index);
  Matrix matrix(queries.size(), index.format.width);
  const MatrixView view = matrix;
  for (size_t q = 0; q < queries.size(); ++q) {
    const std::span<float> sum(view.data + q * view.stride, view.cols);
    std::ranges::fill(sum, 0.0f);
    for (const Term& term : queries[q].terms) vectors.add(term, sum);
    if (!index::normalize(sum))
      fail("'", queries[q].label, "': its terms cancel out, nothing is left to search for");
  }
  return matrix;
}

}  // namespace vit::tools
