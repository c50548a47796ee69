// For any valid text tower labels in words become rows of a classifier or fail with a reason.
//
//   VIT_RANDOM_RUNS=20000 ./random_models_test --gtest_filter='RandomTexts.*'
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <list>

#include "tests/support/folder.h"
#include "tests/text/small_files.h"
#include "tests/tools/random/random_model.h"
#include "vit/base/error.h"
#include "vit/base/thread_pool.h"
#include "vit/model/word_head.h"
#include "vit/text/clip_vocabulary.h"
#include "weights/tensor_list.h"

namespace vit {
namespace {

using test::Dice;

TextConfig random_text_config(Dice& dice) {
  TextConfig c;
  c.encoder.heads = c.encoder.key_value_heads = dice.between(1, 4);
  c.encoder.width = c.encoder.heads * dice.between(1, 8);
  c.encoder.depth = dice.between(1, 3);
  c.encoder.mlp_width = dice.between(1, 32);
  c.encoder.activation = static_cast<Activation>(dice.below(6));
  c.vocabulary = dice.coin() ? text::test::kClipSize : dice.between(1, 600);
  c.context = dice.between(3, 24);
  c.features = dice.between(1, 20);
  c.causal = dice.coin();
  c.pooling = static_cast<TextPooling>(dice.below(4));
  c.end_token = static_cast<std::uint32_t>(dice.coin() ? text::test::kClipSize - 1
                                                       : dice.between(0, 1u << 20));
  c.projection_bias = dice.coin();
  c.tokenizer = static_cast<TokenizerKind>(dice.below(3));
  c.cleaning = static_cast<TextCleaning>(dice.below(6));
  return c;
}

/// Owns the numbers that the checkpoint views.
struct RandomText {
  weights::TextCheckpoint checkpoint;
  std::list<std::vector<float>> numbers;
};

void fill_random_text(RandomText& text, const test::Folder& folder, Dice& dice) {
  const float gain = dice.once_in(8) ? dice.one_of<float>({0.0f, 1e18f, 1e30f}) : 0.3f;
  weights::TextCheckpoint& c = text.checkpoint;
  c.config = random_text_config(dice);
  c.tower.path = "random text tower";
  c.folder = folder.path();
  c.scale = dice.one_of<float>({0.0f, 1.0f, 100.0f, 1e30f});
  c.bias = dice.one_of<float>({0.0f, -10.0f});
  c.sigmoid = dice.coin();
  weights::for_each_tensor(c.config, [&](const weights::TensorSpec& spec) {
    auto& values = text.numbers.emplace_back(weights::element_count(spec.shape));
    for (float& value : values) value = gain * dice.normal();
    c.tower.add(spec.name, weights::Tensor{weights::DType::kF32, spec.shape,
                                           weights::contiguous_strides(spec.shape),
                                           reinterpret_cast<const std::byte*>(values.data())});
  });
}

std::vector<text::WordLabel> some_labels(Dice& dice) {
  const std::vector<std::string> texts{"cat",     "dog",       "a cat and a dog",     "größe 猫",
                                       "\x1b[2J", "&amp;&lt;", std::string(300, 'x'), "  ",
                                       "\xff",    "",          "<|endoftext|> cat"};
  std::vector<text::WordLabel> labels(dice.between(1, 4));
  for (size_t i = 0; i < labels.size(); ++i) {
    labels[i].name = dice.once_in(8) ? dice.one_of(texts) : "label " + std::to_string(i);
    for (size_t prompts = dice.between(1, 3); prompts != 0; --prompts)
      labels[i].prompts.push_back(dice.one_of(texts));
  }
  return labels;
}

/// True if there was an answer.
bool run_seed(std::uint64_t seed, const test::Folder& files, ThreadPool& threads) {
  Dice dice(seed);
  RandomText text;
  fill_random_text(text, files, dice);
  const auto labels = some_labels(dice);
  const std::filesystem::path merges[] = {files.path(text::kClipVocabularyName)};
  WordHeadOptions options{.pool = dice.coin() ? &threads : nullptr, .clip_vocabularies = merges};
  std::vector<float> feature(text.checkpoint.config.features);
  for (float& value : feature) value = dice.normal();
  try {
    const WordHead head = make_word_head(text.checkpoint, labels, options);
    EXPECT_EQ(head.rows.rows(), labels.size());
    for (const float logit : word_logits(word_classifier(head, active_isa()), feature))
      EXPECT_TRUE(std::isfinite(logit));
    return true;
  } catch (const Error& error) {
    EXPECT_GT(std::string_view(error.what()).size(), 20u);
    return false;
  }
}

TEST(RandomTexts, LabelsBecomeRowsOrAReason) {
  const char* wanted = std::getenv("VIT_RANDOM_RUNS");
  const char* from = std::getenv("VIT_RANDOM_FIRST");
  const size_t runs = wanted == nullptr ? 300 : std::strtoull(wanted, nullptr, 10);
  const size_t first = from == nullptr ? 0 : std::strtoull(from, nullptr, 10);
  const test::Folder files;
  files.write(text::kClipVocabularyName, text::test::gzip(text::test::clip_merges()));
  files.write("vocab.json", text::test::clip_vocab_json());
  files.write("merges.txt", text::test::clip_merges_txt());
  ThreadPool threads(2);
  size_t answers = 0;
  for (size_t seed = first; seed < first + runs; ++seed) {
    SCOPED_TRACE(seed);
    answers += run_seed(seed, files, threads) ? 1 : 0;
  }
  std::printf("%zu of %zu text towers answered\n", answers, runs);
  if (runs >= 100) {
    EXPECT_GT(answers, runs / 10) << "too few of the towers are of use";
    EXPECT_LT(answers, runs) << "no tower and no label was wrong";
  }
}

}  // namespace
}  // namespace vit
