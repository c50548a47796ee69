#include "vit/interpret/first_layer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/interpret/synthetic.h"
#include "tests/support/random.h"
#include "tests/support/random_checkpoint.h"
#include "vit/base/error.h"
#include "vit/model/load.h"

namespace vit::interpret {
namespace {

double cosine(std::span<const float> a, std::span<const float> b) {
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += double{a[i]} * double{b[i]};
    aa += double{a[i]} * double{a[i]};
    bb += double{b[i]} * double{b[i]};
  }
  return ab / std::sqrt(aa * bb);
}

/// Not square.
ModelConfig wide_config() {
  ModelConfig config = test::small_config();
  config.embedding.image_height = 24;
  config.embedding.position_grid = {3, 4};
  config.encoder.depth = 1;
  return config;
}

TEST(FirstLayer, PositionsAreComparedByTheirCosine) {
  const Model model = load_model(test::random_checkpoint(wide_config()));
  const Matrix similarity = position_similarity(model);
  ASSERT_EQ(similarity.rows(), 12u);
  for (size_t i = 0; i < 12; ++i)
    for (size_t j = 0; j < 12; ++j)
      EXPECT_NEAR(similarity(i, j),
                  cosine(model.embedding.positions.view().row_span(i),
                         model.embedding.positions.view().row_span(j)),
                  1e-5);
}

TEST(FirstLayer, AModelWithoutPositionsSaysSo) {
  ModelConfig config = wide_config();
  config.embedding.positions = PositionKind::kNone;
  const Model model = load_model(test::random_checkpoint(config));
  try {
    position_similarity(model);
    FAIL() << "found positions";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the model has no position embeddings");
  }
}

TEST(FirstLayer, FindsPlantedComponentsInTheOrderOfTheirVariance) {
  // 60 filters: three orthogonal directions with deviations 4, 2, 1 and a constant.
  const size_t n = 60, width = 20;
  Matrix directions(3, width);
  for (size_t k = 0; k < 3; ++k) directions(k, 5 * k) = 1.0f;
  const Matrix amounts = test::random_matrix(n, 3, 5);
  Matrix filters(n, width);
  for (size_t i = 0; i < n; ++i)
    for (size_t c = 0; c < width; ++c) {
      filters(i, c) = 10.0f;
      for (size_t k = 0; k < 3; ++k)
        filters(i, c) += amounts(i, k) * directions(k, c) * (k == 0 ? 4.0f : k == 1 ? 2.0f : 1.0f);
    }
  const FilterComponents found = principal_components(filters, 3, active_isa());
  for (size_t k = 0; k < 3; ++k)
    EXPECT_GT(std::abs(cosine(found.components.view().row_span(k), directions.view().row_span(k))),
              0.95)
        << k;
  EXPECT_GT(found.share[0], found.share[1]);
  EXPECT_GT(found.share[1], found.share[2]);
  EXPECT_NEAR(found.share[0] + found.share[1] + found.share[2], 1.0, 1e-4);
}

TEST(FirstLayer, ReadsTheFiltersOfAModel) {
  const Model model = load_model(test::random_checkpoint(wide_config()));
  const FilterComponents found = filter_components(model, 100);
  EXPECT_EQ(found.components.rows(), 24u);  // as many as there are filters
  EXPECT_EQ(found.components.cols(), 3u * 8 * 8);
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_NEAR(cosine(found.components.view().row_span(i), found.components.view().row_span(j)),
                  0.0, 1e-4);
}

}  // namespace
}  // namespace vit::interpret
