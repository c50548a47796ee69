#include "vit/train/teaching.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "vit/base/error.h"
#include "vit/base/hash.h"
#include "vit/train/archive.h"
#include "weights/numbers.h"

namespace vit::train {
namespace {

constexpr Magic kMagic{'v', 'i', 't', 't', 'c', 'h', 'r', '1'};

}  // namespace

TeacherTable::TeacherTable(const TeacherShape& shape) : shape_(shape) {
  if (shape.classes > std::numeric_limits<std::uint16_t>::max())
    fail("a teacher of ", shape.classes, " classes, expected at most ",
         std::numeric_limits<std::uint16_t>::max());
  shape_.kept = std::min(shape.kept, shape.classes);
  const size_t size = shape_.passes() * shape_.images * shape_.kept;
  labels_.resize(size);
  probabilities_.resize(size);
}

size_t TeacherTable::place(size_t pass, size_t image) const {
  return (pass * shape_.images + image) * shape_.kept;
}

void TeacherTable::set(size_t image, std::span<const float> probabilities) {
  assert(!complete() && image < shape_.images && probabilities.size() == shape_.classes);
  std::vector<std::uint16_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), std::uint16_t{0});
  // Of equals the first, so that the same answers are always kept.
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shape_.kept), order.end(),
      [&](std::uint16_t a, std::uint16_t b) {
        return probabilities[a] != probabilities[b] ? probabilities[a] > probabilities[b] : a < b;
      });
  const size_t at = place(finished_, image);
  for (size_t i = 0; i < shape_.kept; ++i) {
    labels_[at + i] = order[i];
    probabilities_[at + i] = weights::f16_of_float(probabilities[order[i]]);
  }
}

void TeacherTable::get(std::uint64_t epoch, size_t image, std::span<float> probabilities) const {
  assert(complete() && image < shape_.images && probabilities.size() == shape_.classes);
  const size_t at = place(crop_of(epoch), image), others = shape_.classes - shape_.kept;
  float kept = 0.0f;
  for (size_t i = 0; i < shape_.kept; ++i) kept += weights::float_of_f16(probabilities_[at + i]);
  const float rest = others == 0 ? 0.0f : std::max(0.0f, 1.0f - kept) / static_cast<float>(others);
  std::fill(probabilities.begin(), probabilities.end(), rest);
  for (size_t i = 0; i < shape_.kept; ++i)
    probabilities[labels_[at + i]] = weights::float_of_f16(probabilities_[at + i]);
}

std::uint64_t TeacherTable::hash() const {
  Hash hash;
  hash.add_row(labels_.data(), labels_.size());
  hash.add_row(probabilities_.data(), probabilities_.size());
  return hash.value();
}

void TeacherTable::save(const std::filesystem::path& path) const {
  ArchiveWriter writer;
  writer.put(shape_);
  writer.put(teacher_);
  writer.put(finished_);
  const auto size = static_cast<std::ptrdiff_t>(place(finished_, 0));
  writer.put(std::vector(labels_.begin(), labels_.begin() + size));
  writer.put(std::vector(probabilities_.begin(), probabilities_.begin() + size));
  write_archive(path, kMagic, writer);
}

TeacherTable TeacherTable::load(const std::filesystem::path& path, const TeacherShape& shape) {
  const std::string where = path.string();
  ArchiveReader reader = read_archive(path, kMagic, "file of a teacher's answers");
  TeacherTable table(shape), stored;
  reader.get(stored.shape_);
  reader.get(stored.teacher_);
  reader.get(stored.finished_);
  reader.get(stored.labels_);
  reader.get(stored.probabilities_);
  reader.expect_end();
  if (stored.shape_ != table.shape_)
    fail_at(where, "the teacher was shown other images or crops, or more or fewer of them");
  const size_t size = table.shape_.images * table.shape_.kept * stored.finished_;
  if (stored.finished_ > table.shape_.passes() || stored.labels_.size() != size ||
      stored.probabilities_.size() != size)
    fail_at(where, "damaged, it holds ", stored.labels_.size(), " labels and ",
            stored.probabilities_.size(), " probabilities, expected ", size);
  for (const std::uint16_t label : stored.labels_)
    if (label >= shape.classes)
      fail_at(where, "damaged, it names class ", label, " of ", shape.classes);
  for (const std::uint16_t half : stored.probabilities_)
    if (const float p = weights::float_of_f16(half); !(p >= 0.0f && p <= 1.0f))
      fail_at(where, "damaged, it holds a probability of ", p);
  std::ranges::copy(stored.labels_, table.labels_.begin());
  std::ranges::copy(stored.probabilities_, table.probabilities_.begin());
  table.teacher_ = stored.teacher_;
  table.finished_ = stored.finished_;
  return table;
}

void restricted_softmax(std::span<const float> logits, std::span<const size_t> classes,
                        std::span<float> probabilities) {
  float highest = -std::numeric_limits<float>::infinity();
  for (const size_t i : classes) highest = std::max(highest, logits[i]);
  float sum = 0.0f;
  for (size_t i = 0; i < classes.size(); ++i)
    sum += probabilities[i] = std::exp(logits[classes[i]] - highest);
  for (float& p : probabilities) p /= sum;
}

}  // namespace vit::train
