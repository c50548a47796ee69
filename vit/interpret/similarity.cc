#include "vit/interpret/similarity.h"

#include <algorithm>
#include <cmath>

#include "vit/kernels/multiply.h"

namespace vit::interpret {

Matrix head_similarity(const AttentionMaps& maps) {
  const size_t count = maps.layers * maps.heads, tokens = maps.tokens();
  // Rows add up to 1, so that the mean is 1/T everywhere. Subtracting it before the products
  // instead of after them avoids cancellation for uniform heads.
  Matrix centred(count, tokens * tokens);
  const float mean = 1.0f / static_cast<float>(tokens);
  for (size_t i = 0; i < centred.size(); ++i) centred.data()[i] = maps.weights.data()[i] - mean;
  Matrix products(count, count);
  multiply(centred, centred, products, {.b = Transpose::kYes}, active_isa());

  Matrix similarity(count, count);
  for (size_t a = 0; a < count; ++a)
    for (size_t b = 0; b < count; ++b) {
      const double norms = std::sqrt(double{products(a, a)} * double{products(b, b)});
      const bool flat = norms < 1e-9;
      similarity(a, b) = a == b ? 1.0f : flat ? 0.0f : static_cast<float>(products(a, b) / norms);
    }
  return similarity;
}

std::vector<Duplicate> find_duplicates(ConstMatrixView similarity, size_t heads, double least) {
  std::vector<Duplicate> found;
  for (size_t a = 0; a < similarity.rows; ++a)
    for (size_t b = a + 1; b < similarity.cols; ++b)
      if (similarity(a, b) >= least)
        found.push_back({{a / heads, a % heads}, {b / heads, b % heads}, similarity(a, b)});
  std::stable_sort(found.begin(), found.end(), [](const Duplicate& a, const Duplicate& b) {
    return a.similarity > b.similarity;
  });
  return found;
}

}  // namespace vit::interpret
