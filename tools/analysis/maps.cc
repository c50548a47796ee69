#include "tools/analysis/maps.h"

#include <algorithm>

#include "tools/analysis/relevance.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

using interpret::AttentionMaps;
using interpret::Query;
using interpret::QueryKind;

/// The chosen layers, from 0.
std::vector<size_t> chosen_layers(const AttentionMaps& maps, const MapSettings& settings) {
  std::vector<size_t> layers;
  if (settings.all_layers) {
    for (size_t layer = 0; layer < maps.layers; ++layer) layers.push_back(layer);
    return layers;
  }
  const auto count = static_cast<long>(maps.layers);
  const long asked = settings.layer.value_or(-1);
  const long layer = asked < 0 ? count + asked : asked;
  if (layer < 0 || layer >= count)
    fail("layer ", asked, ": the model has layers 0 to ", count - 1, ", or -1 to -", count,
         " from the last");
  return {static_cast<size_t>(layer)};
}

void check_head(size_t head, size_t heads) {
  if (head >= heads) fail("head ", head, ": the model has heads 0 to ", heads - 1);
}

std::string fused_name(interpret::HeadFusion fusion, size_t heads) {
  return std::string(to_string(fusion)) + " of " + std::to_string(heads) + " heads";
}

/// From [H·rows, cols]: the fused heads, one head, or each.
template <typename Use>
void for_chosen_heads(ConstMatrixView layer, size_t heads, const MapSettings& settings,
                      const Use& use) {
  const size_t rows = layer.rows / heads;
  if (!settings.all_heads && !settings.head)
    return use(fused_name(settings.fusion, heads),
               interpret::fuse_heads(layer, heads, settings.fusion).view());
  if (settings.head) check_head(*settings.head, heads);
  for (size_t h = settings.head.value_or(0); h < heads; ++h) {
    use("head " + std::to_string(h), layer.row_range(h * rows, rows));
    if (settings.head) return;
  }
}

std::vector<TokenMap> layer_maps(const AttentionMaps& maps, size_t layer, const Query& query,
                                 const MapSettings& settings) {
  const std::vector<float> weights = interpret::query_weights(query, maps.layout);
  std::vector<TokenMap> found;
  for_chosen_heads(maps.layer(layer), maps.heads, settings,
                   [&](const std::string& head, ConstMatrixView attention) {
                     found.push_back({"layer " + std::to_string(layer), head,
                                      interpret::weighted_rows(attention, weights)});
                   });
  return found;
}

std::vector<TokenMap> pool_maps(const AttentionMaps& maps, const MapSettings& settings) {
  std::vector<TokenMap> found;
  for_chosen_heads(
      maps.pooling, maps.pooling.rows(), settings,
      [&](const std::string& head, ConstMatrixView row) {
        found.push_back({"pool", head, std::vector<float>(row.row(0), row.row(0) + row.cols)});
      });
  return found;
}

/// The start of a rollout: the query's token, or the attention of the pool's heads.
std::vector<float> start_of(const AttentionMaps& maps, const Query& query,
                            interpret::HeadFusion fusion) {
  if (query.kind != QueryKind::kPool) return interpret::query_weights(query, maps.layout);
  const Matrix fused = interpret::fuse_heads(maps.pooling, maps.pooling.rows(), fusion);
  return {fused.data(), fused.data() + fused.size()};
}

TokenMap rollout_map(const AttentionMaps& maps, const Query& query, const MapSettings& settings) {
  const interpret::RolloutOptions options{
      .fusion = settings.fusion, .discard = settings.discard, .first_layer = settings.start_layer};
  const std::string from =
      settings.start_layer == 0 ? "" : " from layer " + std::to_string(settings.start_layer);
  return {"rollout" + from, fused_name(settings.fusion, maps.heads),
          interpret::rollout(maps, start_of(maps, query, settings.fusion), options)};
}

std::vector<TokenMap> relevance_maps(const Classifier& classifier, const ImageAnalysis& analysis,
                                     const MapSettings& settings, const Query& query,
                                     const RelevanceTargets& targets) {
  std::vector<size_t> classes = targets.classes;
  if (classes.empty()) classes.push_back(analysis.predictions.front().index);
  auto found = relevance_of(
      *targets.network, analysis, classes,
      {.query = query, .fusion = settings.fusion, .first_layer = settings.start_layer});
  std::vector<TokenMap> maps;
  for (size_t i = 0; i < classes.size(); ++i) {
    const std::string label = classifier.label(classes[i]);
    // Several classes side by side: each map is labelled with its class.
    if (classes.size() > 1)
      maps.push_back({"relevance", label, std::move(found[i])});
    else
      maps.push_back({"relevance for " + label, fused_name(settings.fusion, analysis.maps.heads),
                      std::move(found[i])});
    maps.back().target = {classes[i], label, analysis.probabilities[classes[i]]};
  }
  return maps;
}

Query chosen_query(const Classifier& classifier, const ImageAnalysis& analysis,
                   const MapSettings& settings) {
  Query query = settings.query.value_or(interpret::default_query(classifier.config()));
  // CaiT's class token reads the patches in layers of its own, which are shown as a pool.
  if (query.kind == QueryKind::kClass && classifier.config().head.class_layers != 0)
    query.kind = QueryKind::kPool;
  if (query.kind == QueryKind::kPool && analysis.maps.pooling.empty())
    fail("query 'pool': ", classifier.name(), " has no attention pool");
  return interpret::on_grid(query, analysis.size, classifier.recipe(), analysis.maps.layout);
}

}  // namespace

MapSheet make_maps(const Classifier& classifier, const ImageAnalysis& analysis, MapMethod method,
                   const MapSettings& settings, const RelevanceTargets& targets) {
  const AttentionMaps& maps = analysis.maps;
  MapSheet sheet{
      .method = method, .query = chosen_query(classifier, analysis, settings), .rows = {}};
  if (method == MapMethod::kRollout) {
    sheet.rows.push_back({rollout_map(maps, sheet.query, settings)});
    return sheet;
  }
  if (method == MapMethod::kRelevance) {
    sheet.rows.push_back(relevance_maps(classifier, analysis, settings, sheet.query, targets));
    return sheet;
  }
  const bool pool = sheet.query.kind == QueryKind::kPool;
  if (pool && !settings.all_layers && !settings.layer) {
    sheet.rows.push_back(pool_maps(maps, settings));
    return sheet;
  }
  // The pool's query acts after the layers; within the layers the mean of the patches stands for
  // it.
  const Query shown = pool ? Query{.kind = QueryKind::kMean} : sheet.query;
  for (const size_t layer : chosen_layers(maps, settings))
    sheet.rows.push_back(layer_maps(maps, layer, shown, settings));
  if (pool && settings.all_layers) sheet.rows.push_back(pool_maps(maps, settings));
  if (!settings.all_layers) sheet.query = shown;
  return sheet;
}

std::vector<std::vector<TokenMatrix>> make_matrices(const ImageAnalysis& analysis,
                                                    const MapSettings& settings) {
  const AttentionMaps& maps = analysis.maps;
  std::vector<std::vector<TokenMatrix>> sheet;
  for (const size_t layer : chosen_layers(maps, settings)) {
    sheet.emplace_back();
    for_chosen_heads(
        maps.layer(layer), maps.heads, settings,
        [&](const std::string& head, ConstMatrixView attention) {
          sheet.back().push_back({"layer " + std::to_string(layer), head, copy_of(attention)});
        });
  }
  return sheet;
}

}  // namespace vit::tools
