#include "vit/interpret/head_report.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "vit/interpret/statistics.h"

namespace vit::interpret {
namespace {

void add_to(Matrix& sum, const Matrix& more) {
  assert(sum.size() == more.size());
  for (size_t i = 0; i < sum.size(); ++i) sum.data()[i] += more.data()[i];
}

Matrix divided(const Matrix& sum, size_t count) {
  Matrix mean(sum.rows(), sum.cols());
  const float factor = 1.0f / static_cast<float>(std::max<size_t>(count, 1));
  for (size_t i = 0; i < sum.size(); ++i) mean.data()[i] = sum.data()[i] * factor;
  return mean;
}

double mean_of(double sum, size_t count) {
  return count == 0 ? 0.0 : sum / static_cast<double>(count);
}

}  // namespace

AttentionMeasures measure_attention(const AttentionMaps& maps) {
  AttentionMeasures measures{.heads = {}, .similarity = head_similarity(maps)};
  for (size_t i = 0; i < maps.layers * maps.heads; ++i) {
    const ConstMatrixView attention = maps.head(i / maps.heads, i % maps.heads);
    measures.heads.push_back({.distance = attention_distance(attention, maps.layout),
                              .entropy = attention_entropy(attention),
                              .prefix_mass = mean_prefix_mass(attention, maps.layout)});
  }
  return measures;
}

HeadReportBuilder::HeadReportBuilder(const ModelConfig& config) {
  sums_.layout = token_layout(config);
  sums_.layers = config.encoder.depth;
  sums_.heads = config.encoder.heads * config.encoder.branches;
  const size_t count = sums_.layers * sums_.heads, tokens = sums_.layout.tokens();
  for (size_t i = 0; i < count; ++i)
    sums_.summaries.push_back({.id = {i / sums_.heads, i % sums_.heads}});
  attention_ = Matrix(count * tokens, tokens);
  similarity_ = Matrix(count, count);
}

void HeadReportBuilder::add(const AttentionMaps& maps, const AttentionMeasures& measures) {
  assert(measures.heads.size() == sums_.summaries.size());
  for (size_t i = 0; i < measures.heads.size(); ++i) {
    HeadSummary& head = sums_.summaries[i];
    head.distance += measures.heads[i].distance;
    head.entropy += measures.heads[i].entropy;
    head.prefix_mass += measures.heads[i].prefix_mass;
  }
  add_to(attention_, maps.weights);
  add_to(similarity_, measures.similarity);
  ++sums_.images;
}

void HeadReportBuilder::add_effects(std::span<const HeadEffect> effects) {
  assert(effects.size() == sums_.summaries.size());
  for (size_t i = 0; i < effects.size(); ++i) {
    HeadSummary& head = sums_.summaries[i];
    head.divergence += effects[i].divergence;
    head.change = std::max(head.change, effects[i].change);
    head.flips += effects[i].flips ? 1.0 : 0.0;
  }
  ++sums_.disabled_images;
}

void HeadReportBuilder::add_estimates(std::span<const double> estimates) {
  assert(estimates.size() == sums_.summaries.size());
  for (size_t i = 0; i < estimates.size(); ++i)
    sums_.summaries[i].estimate += std::abs(estimates[i]);
  ++sums_.estimated;
}

Matrix HeadReportBuilder::mean_attention() const {
  return divided(attention_, sums_.images);
}

HeadReport HeadReportBuilder::report() const {
  HeadReport report = sums_;
  const size_t tokens = report.layout.tokens();
  const Matrix attention = mean_attention();
  for (size_t i = 0; i < report.summaries.size(); ++i) {
    HeadSummary& head = report.summaries[i];
    head.distance = mean_of(head.distance, report.images);
    head.entropy = mean_of(head.entropy, report.images);
    head.prefix_mass = mean_of(head.prefix_mass, report.images);
    head.pattern = recognize(attention.view().row_range(i * tokens, tokens), report.layout);
    head.divergence = mean_of(head.divergence, report.disabled_images);
    head.flips = mean_of(head.flips, report.disabled_images);
    head.estimate = mean_of(head.estimate, report.estimated);
    head.dead = report.disabled_images > 0 && head.change < kDeadChange;
  }
  report.duplicates = find_duplicates(divided(similarity_, report.images), report.heads);
  return report;
}

}  // namespace vit::interpret
