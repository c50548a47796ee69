/// Every head of a model in numbers, over a set of images.
#pragma once

#include <span>
#include <vector>

#include "vit/interpret/attention_maps.h"
#include "vit/interpret/head_effects.h"
#include "vit/interpret/pattern.h"
#include "vit/interpret/similarity.h"

namespace vit::interpret {

struct HeadSummary {
  HeadId id{};
  double distance = 0.0;     ///< pixels, mean over the images
  double entropy = 0.0;      ///< bits
  double prefix_mass = 0.0;  ///< attention of patches to prefix tokens
  Pattern pattern{};         ///< of the mean attention
  double divergence = 0.0;   ///< mean KL without the head, nats
  double change = 0.0;       ///< largest relative change of an output
  double flips = 0.0;        ///< share of the images whose first class changes
  double estimate = 0.0;     ///< mean size of the first-order effect on the first class
  bool dead = false;         ///< no image's output depends on it
};

struct HeadReport {
  TokenLayout layout;
  size_t layers = 0;
  size_t heads = 0;
  size_t images = 0;
  size_t disabled_images = 0;          ///< on which importance was measured, by disabling heads
  size_t estimated = 0;                ///< images on which it was estimated
  std::vector<HeadSummary> summaries;  ///< [layers·heads]
  std::vector<Duplicate> duplicates;
};

/// A head is dead if disabling it changes no output by more than this part of its spread.
constexpr double kDeadChange = 1e-3;

/// What the attention of one image adds to a report.
struct AttentionMeasures {
  struct Head {
    double distance = 0.0;
    double entropy = 0.0;
    double prefix_mass = 0.0;
  };
  std::vector<Head> heads;  ///< [layers·heads]
  Matrix similarity;        ///< [layers·heads, layers·heads]
};
AttentionMeasures measure_attention(const AttentionMaps& maps);

/// Builds a report, image by image. Measuring takes long and needs no builder, so several threads
/// can do it at the same time; adding is quick.
class HeadReportBuilder {
 public:
  explicit HeadReportBuilder(const ModelConfig& config);

  /// `measures`: of these maps.
  void add(const AttentionMaps& maps, const AttentionMeasures& measures);
  void add_effects(std::span<const HeadEffect> effects);
  /// First-order effects, as Explanation::head_estimates() gives them.
  void add_estimates(std::span<const double> estimates);

  HeadReport report() const;
  /// [layers·heads·T, T]: the mean over the images.
  Matrix mean_attention() const;

 private:
  HeadReport sums_;    // report() divides them
  Matrix attention_;   // [layers·heads·T, T], summed
  Matrix similarity_;  // [layers·heads, layers·heads], summed
};

}  // namespace vit::interpret
