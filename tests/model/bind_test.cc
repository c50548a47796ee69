#include "vit/model/bind.h"
#include "tests/support/execution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "vit/base/error.h"

namespace vit {
namespace {

/// A checkpoint of float tensors made by hand.
class Handmade {
 public:
  Handmade() { checkpoint_.path = "tiny"; }

  Handmade& add(const std::string& name, const weights::Shape& shape, float start = 0.0f) {
    const size_t n = weights::element_count(shape);
    auto storage = std::make_shared<std::vector<float>>(n);
    for (size_t i = 0; i < n; ++i) (*storage)[i] = start + static_cast<float>(i);
    checkpoint_.add(name,
                    weights::Tensor{weights::DType::kF32, shape, weights::contiguous_strides(shape),
                                    reinterpret_cast<const std::byte*>(storage->data())});
    checkpoint_.keep(storage);
    numbers_[name] = storage;
    return *this;
  }
  void set(const std::string& name, size_t index, float value) {
    numbers_.at(name)->at(index) = value;
  }
  const weights::Checkpoint& checkpoint() const { return checkpoint_; }

 private:
  weights::Checkpoint checkpoint_;
  std::map<std::string, std::shared_ptr<std::vector<float>>> numbers_;
};

TEST(Bind, NamesTheTensorThatIsMissing) {
  Handmade tiny;
  try {
    bind_linear(WeightScope(tiny.checkpoint(), active_isa(), "head"));
    FAIL() << "accepted nothing";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("head.weight"), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).rfind("tiny", 0), 0u) << error.what();
  }
}

TEST(Bind, NamesTheNumberThatIsNotFinite) {
  const auto complaint = [](float value, const auto& bind) {
    Handmade tiny;
    tiny.add("head.weight", {2, 3}).add("head.bias", {2});
    tiny.set("head.weight", 4, value);
    try {
      bind(WeightScope(tiny.checkpoint(), active_isa(), "head"));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto linear = [](const WeightScope& w) { bind_linear(w); };
  const auto int8 = [](const WeightScope& w) { bind_linear(w.in(Precision::kInt8)); };
  const auto matrix = [](const WeightScope& w) { w.matrix("weight"); };
  const std::string rest =
      " at [1, 1], expected finite numbers; the training run diverged, or the file is damaged";
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = INFINITY;
  EXPECT_EQ(complaint(nan, linear), "tiny: tensor 'head.weight' holds nan" + rest);
  EXPECT_EQ(complaint(-inf, int8), "tiny: tensor 'head.weight' holds -inf" + rest);
  EXPECT_EQ(complaint(inf, matrix), "tiny: tensor 'head.weight' holds inf" + rest);
  EXPECT_EQ(complaint(std::numeric_limits<float>::max(), linear), "");
}

TEST(Bind, ALinearLayerMultipliesByTheStoredRows) {
  Handmade tiny;
  tiny.add("head.weight", {2, 3}).add("head.bias", {2}, 10.0f);
  const Linear linear = bind_linear(WeightScope(tiny.checkpoint(), active_isa(), "head"));
  Matrix x(1, 3), y(1, 2);
  for (size_t i = 0; i < 3; ++i) x(0, i) = 1.0f;
  apply(linear, x, y, test::best_execution());
  EXPECT_EQ(y(0, 0), 0 + 1 + 2 + 10);
  EXPECT_EQ(y(0, 1), 3 + 4 + 5 + 11);
}

/// Stored integers beyond what the kernels were proved for must not reach them.
TEST(Bind, RefusesIntegersAndScalesThatTheKernelsCannotTake) {
  const auto bind = [](std::int8_t integer, float scale) {
    const std::vector<std::int8_t> integers{1, integer, 3, 4};
    const std::vector<float> scales{0.5f, scale};
    weights::Checkpoint checkpoint;
    checkpoint.path = "tiny";
    checkpoint.add("fc.weight", weights::Tensor{weights::DType::kI8,
                                                {2, 2},
                                                {2, 1},
                                                reinterpret_cast<const std::byte*>(integers.data()),
                                                reinterpret_cast<const std::byte*>(scales.data())});
    try {
      bind_linear(WeightScope(checkpoint, active_isa()).in(std::nullopt) / "fc");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(bind(63, 0.25f), "accepted");
  EXPECT_EQ(bind(-63, 0.0f), "accepted");
  EXPECT_EQ(bind(-64, 0.25f),
            "tiny: tensor 'fc.weight' holds -64, expected integers of at most 63 either way");
  const std::vector<std::int8_t> large(8, 40);
  EXPECT_THROW(WeightScope(weights::Checkpoint(), active_isa()).check_int8("w", large, 1.0f),
               Error);
  EXPECT_EQ(bind(63, -1.0f),
            "tiny: tensor 'fc.weight' has a scale of -1, expected a finite number from 0");
}

}  // namespace
}  // namespace vit
