/// Groups of classes: coarse classes whose probability is the sum of those of their members.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/class_names.h"
#include "tools/cli/group_file.h"
#include "tools/cli/options.h"
#include "tools/output/json.h"
#include "vit/model/classifier.h"

namespace vit::tools {

/// Classes in no group belong to this one.
inline constexpr std::string_view kOtherGroup = "other";

struct GroupOptions {
  bool multi_label = false;  ///< scores of classes are independent: the highest, not the sum
  bool some_labels = false;  ///< not all labels are known: items without a class are left out
};

class GroupMembers;

class Groups {
 public:
  /// Throws an Error for an item without a class, a class in two groups, or a group without a
  /// class.
  Groups(const std::vector<GroupSpec>& specs, const ClassNames& names, GroupOptions options = {});

  /// In the order of the list; the last is kOtherGroup, unless each class is in another.
  const std::vector<std::string>& names() const { return names_; }
  size_t count() const { return names_.size(); }
  size_t group_of(size_t index) const { return group_of_[index]; }
  const std::vector<size_t>& group_of() const { return group_of_; }

  /// The probability of each group, from those of all classes.
  std::vector<float> probabilities(std::span<const float> of_classes) const;
  /// The `k` most probable groups, best first; ties in their order.
  std::vector<Prediction> top(std::span<const float> probabilities, size_t k) const;
  /// All groups of some classes, such as those in a row, best first.
  std::vector<Prediction> of(std::span<const Prediction> classes) const;

  /// [{"name": "dog", "classes": "151-268"}, …], by the indices of the classes.
  Json to_json() const;
  /// "groups of 1,000 classes: dog 118, bird 59, other 823"
  std::string summary() const;
  /// What a user should know: classes that WordNet's tree does not have, or items left out; or
  /// empty.
  const std::string& remark() const { return remark_; }

 private:
  /// Of one group. `left_out` gets the items without a class.
  std::vector<size_t> classes_of(const GroupSpec& spec, GroupMembers& members,
                                 std::string& left_out) const;
  void assign(const GroupSpec& spec, std::span<const size_t> classes, const ClassNames& names);
  [[noreturn]] void refuse_second(const GroupSpec& spec, std::span<const size_t> classes,
                                  size_t index, const ClassNames& names) const;

  GroupOptions options_;
  std::vector<std::string> names_;
  std::vector<size_t> group_of_;
  std::string remark_;
};

/// --groups, in the group "Output".
void add_groups_option(cxxopts::Options& options);

/// What --groups gives: the groups of a file, else those of names. Empty: it is not given.
std::vector<GroupSpec> parse_groups(const cxxopts::ParseResult& arguments);

/// The groups of a model's classes, described on standard error unless `quiet`; none without specs.
std::optional<Groups> make_groups(const std::vector<GroupSpec>& specs, const Classifier& classifier,
                                  bool quiet);
void say_groups(const Groups& groups);

/// The `k` most probable groups, or classes where there are no groups, best first.
std::vector<Prediction> top_answers(const Classifier& classifier,
                                    const std::optional<Groups>& groups,
                                    std::span<const float> logits, size_t k);

}  // namespace vit::tools
