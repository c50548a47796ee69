#include "weights/known/similar.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "weights/known/catalogue.h"

namespace vit::weights {

NameDistance name_distance(std::string_view typed, std::string_view name) {
  // A row of the table for each typed letter; the last has the distances to all beginnings.
  std::vector<size_t> row(name.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < typed.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < name.size(); ++j) {
      const size_t substituted = diagonal + (typed[i] == name[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
    }
  }
  return {*std::ranges::min_element(row), row.back()};
}

std::string meant_model(std::string_view typed) {
  constexpr size_t kShortest = 4, kLongest = 100;  // of what can be told apart, and is worth it
  if (typed.size() < kShortest || typed.size() > kLongest) return {};
  const size_t most = typed.size() / 5;  // a typing mistake for every five letters
  std::pair<NameDistance, std::string_view> best{{most + 1, 0}, ""};
  const auto offer = [&](std::string_view name) {
    best = std::min(best, {name_distance(typed, name), name});
  };
  for (const CatalogueModel& model : catalogue()) {
    offer(model.name);
    if (!model.architecture.empty() && find_in_catalogue(model.architecture).size() == 1)
      offer(model.architecture);
  }
  return std::string(best.second);
}

}  // namespace vit::weights
