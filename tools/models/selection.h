/// Which models of the catalogue and the cache are listed, and in which order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weights/known/catalogue.h"
#include "weights/store.h"

namespace vit::tools {

enum class ModelOrder { kName, kTop1, kGmacs, kParameters };

struct Selection {
  std::string part;  ///< of the name or the repository
  std::string family;
  std::optional<double> most_gmacs{};
  std::optional<double> most_millions{};  ///< of parameters
  std::optional<double> least_top1{};     ///< in percent; leaves out those without a figure
  bool only_pulled = false;
  ModelOrder order = ModelOrder::kName;

  /// Whether there is a condition besides the part of the name.
  bool filters() const { return !family.empty() || most_gmacs || most_millions || least_top1; }
};

struct ListedModel {
  weights::CatalogueModel model;  ///< the name alone where the catalogue does not know it
  std::optional<weights::PulledModel> pulled{};
  std::uint64_t multiply_adds = 0;
  size_t parameters = 0;
  size_t features = 0;  ///< length of what the classifier reads

  bool known() const { return !model.architecture.empty(); }
  double gmacs() const { return static_cast<double>(multiply_adds) / 1e9; }
};

/// The catalogue, and what was pulled from elsewhere or at another revision.
std::vector<ListedModel> select(const Selection& selection);

struct Recommendation {
  std::string_view word;    ///< "small", "balanced" or "best"
  std::string_view reason;  ///< the rule that chose it
  const ListedModel* row = nullptr;
};

/// The most accurate rows within three limits of cost. A row that a smaller limit gave is not
/// repeated; rows without a published accuracy are never recommended.
std::vector<Recommendation> recommended(const std::vector<ListedModel>& rows);

}  // namespace vit::tools
