#include "tools/models/selection.h"

#include <algorithm>
#include <limits>

#include "weights/cost.h"

namespace vit::tools {
namespace {

using weights::CatalogueModel;

struct Limit {
  std::string_view word;
  std::string_view reason;
  double gmacs;
};

constexpr Limit kLimits[] = {
    {"small", "the most accurate of at most 5 GMACs", 5.0},
    {"balanced", "the most accurate of at most 20 GMACs", 20.0},
    {"best", "the most accurate", std::numeric_limits<double>::infinity()},
};

ListedModel row_of(const CatalogueModel& model) {
  const ModelConfig config = weights::config_of(model);
  return {.model = model,
          .multiply_adds = weights::multiply_adds(config),
          .parameters = weights::parameters_of(model),
          .features = config.classifier_inputs()};
}

bool named(const CatalogueModel& model, const std::string& part) {
  return model.name.find(part) != std::string::npos || model.hub.find(part) != std::string::npos;
}

bool meets(const ListedModel& row, const Selection& selection) {
  if (selection.only_pulled && !row.pulled) return false;
  if (!named(row.model, selection.part)) return false;
  if (!selection.filters()) return true;
  if (!row.known()) return false;  // its properties are not known
  if (!selection.family.empty() && family_of(row.model) != selection.family) return false;
  if (selection.most_gmacs && row.gmacs() > *selection.most_gmacs) return false;
  if (selection.most_millions &&
      static_cast<double>(row.parameters) > 1e6 * *selection.most_millions)
    return false;
  return !selection.least_top1 || (row.model.top1 && *row.model.top1 >= *selection.least_top1);
}

void sort(std::vector<ListedModel>& rows, ModelOrder order) {
  const auto key = [&](const ListedModel& row) {
    if (!row.known()) return std::numeric_limits<double>::infinity();
    switch (order) {
      case ModelOrder::kTop1:
        return row.model.top1 ? -*row.model.top1 : 0.0;
      case ModelOrder::kGmacs:
        return row.gmacs();
      case ModelOrder::kParameters:
        return static_cast<double>(row.parameters);
      case ModelOrder::kName:
        break;
    }
    return 0.0;
  };
  std::ranges::stable_sort(rows, {}, key);
}

}  // namespace

std::vector<ListedModel> select(const Selection& selection) {
  std::vector<weights::PulledModel> pulled = weights::pulled_models();
  std::vector<ListedModel> rows;
  for (const auto& model : weights::catalogue()) {
    const auto found = std::ranges::find_if(pulled, [&](const weights::PulledModel& one) {
      return one.hub == model.hub && one.revision == "main";
    });
    const bool in_cache = found != pulled.end();
    if (named(model, selection.part)) {
      rows.push_back(row_of(model));
      if (in_cache) rows.back().pulled = *found;
    }
    if (in_cache) pulled.erase(found);
  }
  for (const auto& one : pulled) {
    ListedModel other;
    other.model.name = one.hub + (one.revision == "main" ? "" : "@" + one.revision);
    other.model.hub = one.hub;
    other.pulled = one;
    rows.push_back(std::move(other));
  }
  std::erase_if(rows, [&](const ListedModel& row) { return !meets(row, selection); });
  sort(rows, selection.order);
  return rows;
}

std::vector<Recommendation> recommended(const std::vector<ListedModel>& rows) {
  std::vector<Recommendation> result;
  for (const auto& limit : kLimits) {
    const ListedModel* best = nullptr;
    for (const auto& row : rows)
      if (row.model.top1 && row.gmacs() <= limit.gmacs &&
          (best == nullptr || *row.model.top1 > *best->model.top1))
        best = &row;
    if (best == nullptr || (!result.empty() && result.back().row == best)) continue;
    result.push_back({limit.word, limit.reason, best});
  }
  return result;
}

}  // namespace vit::tools
