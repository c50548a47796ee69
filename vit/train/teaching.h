/// A teacher's answers to training images, kept so that its forward pass is paid once: the most
/// likely classes of every image, in several crops if wanted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace vit::train {

using std::size_t;

/// What a teacher was shown, and how much of its answers is kept.
struct TeacherShape {
  std::uint64_t images = 0;
  std::uint64_t classes = 0;
  std::uint64_t crops = 0;  ///< of each image; 0: the whole image, once
  std::uint64_t kept = 0;   ///< most likely classes per answer
  /// Of the training images and of all that decides about their crops.
  std::uint64_t fingerprint = 0;

  /// Answers per image.
  size_t passes() const { return crops == 0 ? 1 : crops; }
  bool operator==(const TeacherShape&) const = default;
};

class TeacherTable {
 public:
  TeacherTable() = default;
  explicit TeacherTable(const TeacherShape& shape);

  const TeacherShape& shape() const { return shape_; }
  /// Passes over all images that are finished.
  size_t finished() const { return finished_; }
  bool complete() const { return finished_ == shape_.passes(); }

  /// Identifies the teacher, so that answers of two teachers are not mixed.
  std::uint64_t teacher() const { return teacher_; }
  void set_teacher(std::uint64_t teacher) { teacher_ = teacher; }

  /// Answers of the pass after the finished ones; different images may be set at the same time.
  void set(size_t image, std::span<const float> probabilities);
  void finish_pass() { ++finished_; }

  /// The crop of an image that an epoch shows: they take turns.
  size_t crop_of(std::uint64_t epoch) const { return static_cast<size_t>(epoch % shape_.passes()); }
  /// The probabilities of all classes: what was not kept is spread evenly over the others.
  void get(std::uint64_t epoch, size_t image, std::span<float> probabilities) const;

  /// Changes with the answers.
  std::uint64_t hash() const;

  /// Only finished passes are kept. A full disk or a kill leaves the file that was there.
  void save(const std::filesystem::path& path) const;
  /// Throws an Error if the file is damaged, or its teacher was shown something else.
  static TeacherTable load(const std::filesystem::path& path, const TeacherShape& shape);

 private:
  size_t place(size_t pass, size_t image) const;

  TeacherShape shape_;
  std::uint64_t teacher_ = 0;
  std::uint64_t finished_ = 0;
  // [pass][image][kept]
  std::vector<std::uint16_t> labels_;
  std::vector<std::uint16_t> probabilities_;  // half precision
};

/// A teacher's part in the targets.
struct Teaching {
  TeacherTable table;
  double share = 0.5;
};

/// The probabilities of some of a teacher's classes, as if there were no others.
void restricted_softmax(std::span<const float> logits, std::span<const size_t> classes,
                        std::span<float> probabilities);

}  // namespace vit::train
