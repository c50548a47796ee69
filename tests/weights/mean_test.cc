#include "weights/mean.h"

#include <gtest/gtest.h>

#include "tests/support/message_of.h"
#include "tests/support/random_checkpoint.h"
#include "weights/known/architectures.h"

namespace vit::weights {
namespace {

ModelConfig small(const char* width = "24") {
  return config_of("vit_tiny_patch16_224",
                   {{"img_size", "32"}, {"embed_dim", width}, {"depth", "1"}, {"num_heads", "2"}});
}

std::vector<float> numbers(const Checkpoint& checkpoint, const std::string& name) {
  const Weight& weight = checkpoint.at(name);
  std::vector<float> values(weight.size());
  weight.read_rows(0, weight.rows(), values.data());
  return values;
}

std::vector<Checkpoint> pair_of(Checkpoint first, Checkpoint second) {
  std::vector<Checkpoint> pair;
  pair.push_back(std::move(first));
  pair.push_back(std::move(second));
  return pair;
}

TEST(Mean, IsThatOfEveryNumber) {
  const Checkpoint a = test::random_checkpoint(small(), 1), b = test::random_checkpoint(small(), 2);
  const Checkpoint mean =
      mean_of(pair_of(test::random_checkpoint(small(), 1), test::random_checkpoint(small(), 2)));
  EXPECT_EQ(mean.weights().size(), a.weights().size());
  for (const auto& [name, weight] : a.weights()) {
    EXPECT_EQ(mean.at(name).shape(), weight.shape()) << name;
    const auto of_a = numbers(a, name), of_b = numbers(b, name), of_mean = numbers(mean, name);
    for (size_t i = 0; i < of_a.size(); ++i)
      EXPECT_EQ(of_mean[i], static_cast<float>((double{of_a[i]} + of_b[i]) / 2)) << name;
  }
}

TEST(Mean, OfOneModelIsItself) {
  const Checkpoint a = test::random_checkpoint(small());
  std::vector<Checkpoint> one;
  one.push_back(test::random_checkpoint(small()));
  const Checkpoint mean = mean_of(std::move(one));
  for (const auto& [name, weight] : a.weights()) EXPECT_EQ(numbers(mean, name), numbers(a, name));
}

TEST(Mean, ModelsThatDifferAreRefused) {
  const auto refused = [](Checkpoint second) {
    return test::message_of([&] {
      Checkpoint first = test::random_checkpoint(small());
      first.path = "first";
      second.path = "second";
      mean_of(pair_of(std::move(first), std::move(second)));
    });
  };
  EXPECT_EQ(refused(test::random_checkpoint(small("48"))),
            "second: it has no common mean with first: tensor 'blocks.0.attn.proj.bias' has shape "
            "[48], expected [24]");
  Checkpoint named = test::random_checkpoint(small());
  named.labels = {"cat"};
  EXPECT_EQ(refused(std::move(named)),
            "second: it has no common mean with first: its labels differ");
  Checkpoint lacking = test::random_checkpoint(small());
  lacking.take("norm.bias");
  EXPECT_EQ(refused(std::move(lacking)),
            "second: it has no common mean with first: it has no tensor 'norm.bias'");
  Checkpoint larger = test::random_checkpoint(small());
  larger.add("more", larger.at("norm.bias"));
  EXPECT_EQ(refused(std::move(larger)),
            "second: it has no common mean with first: it has more tensors");
  Checkpoint other_heads = test::random_checkpoint(small());
  other_heads.config.encoder.heads = other_heads.config.encoder.key_value_heads = 4;
  EXPECT_EQ(refused(std::move(other_heads)),
            "second: it has no common mean with first: its configuration differs");
}

}  // namespace
}  // namespace vit::weights
