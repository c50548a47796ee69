/// Accuracy and calibration over many images. Sums of whole numbers only: the figures do not depend
/// on the order of the images.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace vit::tools {

using std::size_t;

/// The answer for one image of known class.
struct Answer {
  size_t truth = 0;
  size_t predicted = 0;
  size_t rank = 0;          ///< of the truth: 0 is the first place
  double confidence = 0.0;  ///< probability of `predicted`
  double truth_probability = 0.0;

  bool right() const { return rank == 0; }
};

/// Equal probabilities rank in the order of their index, as Classifier::top() has them.
Answer judge(std::span<const float> probabilities, size_t truth);

struct ClassScore {
  std::uint64_t images = 0;     ///< whose class this is
  std::uint64_t predicted = 0;  ///< number of images classified as this class
  std::uint64_t right = 0;

  std::optional<double> precision() const;  ///< none: never predicted
  std::optional<double> recall() const;     ///< none: no image
  std::optional<double> f1() const;         ///< none: neither
};

/// Means over the classes that have images; a class that was never predicted counts as precision 0.
struct MeanScore {
  double precision = 0.0;
  double recall = 0.0;
  double f1 = 0.0;
};

/// Images whose confidence lies in one fifteenth of 0…1.
struct ConfidenceBin {
  std::uint64_t images = 0;
  std::uint64_t right = 0;
  std::uint64_t confidence = 0;  ///< the sum, in units of 2^-32

  double mean_confidence() const;
  double accuracy() const;
};

/// Images whose first answer has at least a probability.
struct ConfidenceLevel {
  double least = 0.0;
  std::uint64_t images = 0;
  std::uint64_t right = 0;
};

/// The number of images of `truth` that were classified as `predicted`.
struct Confusion {
  size_t truth = 0;
  size_t predicted = 0;
  std::uint64_t images = 0;

  bool operator==(const Confusion&) const = default;
};

class Tally {
 public:
  static constexpr size_t kBins = 15;  ///< as Guo et al. 2017 use

  /// `abstain_below`, from 0 to 1, is one more confidence level.
  explicit Tally(size_t classes, std::optional<double> abstain_below = std::nullopt);

  void add(const Answer& answer);

  std::uint64_t images() const { return images_; }
  std::uint64_t right() const { return right_; }
  std::uint64_t in_top5() const { return in_top5_; }
  double top1() const { return share(right_); }
  double top5() const { return share(in_top5_); }

  const std::vector<ClassScore>& classes() const { return classes_; }
  size_t classes_with_images() const;
  MeanScore mean() const;

  const std::array<ConfidenceBin, kBins>& bins() const { return bins_; }
  double mean_confidence() const;
  /// |accuracy - confidence| of the bins, weighted by their images.
  double calibration_error() const;

  /// In rising order: the images left, and how many are right, when answers below a
  /// confidence are not counted.
  const std::vector<ConfidenceLevel>& levels() const { return levels_; }

  std::uint64_t confused(size_t truth, size_t predicted) const;
  /// Ordered by truth, then by prediction; right answers included.
  std::vector<Confusion> confusions() const;
  /// Wrong ones that occurred more than once, the most frequent first.
  std::vector<Confusion> most_confused(size_t most) const;
  /// Classes that are some image's truth or prediction, in order.
  std::vector<size_t> occurring() const;

 private:
  double share(std::uint64_t count) const;

  std::uint64_t images_ = 0;
  std::uint64_t right_ = 0;
  std::uint64_t in_top5_ = 0;
  std::vector<ClassScore> classes_;
  std::array<ConfidenceBin, kBins> bins_{};
  std::vector<ConfidenceLevel> levels_;
  // Of 21,000² pairs few occur: memory is that of the pairs seen.
  std::map<std::pair<size_t, size_t>, std::uint64_t> pairs_;
};

}  // namespace vit::tools
