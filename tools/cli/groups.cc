#include "tools/cli/groups.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>

#include "tools/cli/group_members.h"
#include "tools/output/format.h"
#include "tools/output/terminal.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);
constexpr size_t kMostListed = 12;

/// "7-24,80-100"
std::string ranges(const std::vector<size_t>& group_of, size_t group) {
  std::string text;
  for (size_t i = 0; i < group_of.size(); ++i) {
    if (group_of[i] != group) continue;
    size_t last = i;
    while (last + 1 < group_of.size() && group_of[last + 1] == group) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(i);
    if (last != i) text += "-" + std::to_string(last);
    i = last;
  }
  return text;
}

std::string unknown_classes(const std::vector<size_t>& unknown, const ClassNames& names) {
  constexpr size_t kShown = 5;
  if (unknown.empty()) return "";
  std::string text;
  for (size_t i = 0; i < std::min(kShown, unknown.size()); ++i)
    text += (i == 0 ? "" : ", ") + names.label(unknown[i]);
  return format_count(unknown.size()) + " of " + format_count(names.classes()) +
         (unknown.size() == 1 ? " classes is" : " classes are") +
         " unknown to WordNet's tree of ImageNet-1k, which puts none of them into a group: " +
         text + (unknown.size() > kShown ? ", …" : "");
}

}  // namespace

Groups::Groups(const std::vector<GroupSpec>& specs, const ClassNames& names, GroupOptions options)
    : options_(options), group_of_(names.classes(), kNone) {
  GroupMembers members(names);
  std::string left_out;
  for (const GroupSpec& spec : specs) assign(spec, classes_of(spec, members, left_out), names);
  if (std::ranges::all_of(group_of_, [](size_t group) { return group == kNone; }))
    fail_at(specs.front().items.front().where, "none of the groups has a class of ", names.model());
  const auto other = std::ranges::find(names_, kOtherGroup);
  const bool rest = std::ranges::find(group_of_, kNone) != group_of_.end();
  const auto place = static_cast<size_t>(other - names_.begin());
  if (rest && other == names_.end()) names_.emplace_back(kOtherGroup);
  std::ranges::replace(group_of_, kNone, place);
  if (!options.some_labels)
    remark_ = unknown_classes(members.unknown(), names);
  else if (!left_out.empty())
    remark_ = names.model() + ": no row has a class of these group members: " + left_out;
}

std::vector<size_t> Groups::classes_of(const GroupSpec& spec, GroupMembers& members,
                                       std::string& left_out) const {
  std::vector<size_t> classes;
  for (const GroupItem& item : spec.items) {
    const auto group = std::ranges::find(names_, item.text);
    if (item.removed && group != names_.end()) {
      const auto place = static_cast<size_t>(group - names_.begin());
      std::erase_if(classes, [&](size_t index) { return group_of_[index] == place; });
      continue;
    }
    const auto found = members.find(item);
    if (found.empty() && !options_.some_labels) members.explain(item);
    if (found.empty()) left_out += (left_out.empty() ? "" : ", ") + item.text;
    for (const size_t index : found) {
      std::erase(classes, index);
      if (!item.removed) classes.push_back(index);
    }
  }
  if (classes.empty() && !options_.some_labels)
    fail_at(spec.items.back().where, "group '", spec.name, "' has no class left in it");
  return classes;
}

void Groups::assign(const GroupSpec& spec, std::span<const size_t> classes,
                    const ClassNames& names) {
  const size_t group = names_.size();
  names_.push_back(spec.name);
  for (const size_t index : classes) {
    if (group_of_[index] != kNone) refuse_second(spec, classes, index, names);
    group_of_[index] = group;
  }
}

void Groups::refuse_second(const GroupSpec& spec, std::span<const size_t> classes, size_t index,
                           const ClassNames& names) const {
  const size_t first = group_of_[index];
  const auto shared =
      std::ranges::count_if(classes, [&](size_t i) { return group_of_[i] == first; });
  std::string larger = names_[first], smaller = spec.name;
  if (std::ranges::count(group_of_, first) < static_cast<std::ptrdiff_t>(classes.size()))
    std::swap(larger, smaller);
  fail_at(spec.items.front().where, "class ", index, " (", names.label(index), ") is in '",
          names_[first], "' and in '", spec.name, "'",
          shared > 1 ? ", and so are " + std::to_string(shared - 1) + " more" : "",
          "; expected each class in one group: in a file, ", larger, " = …, !", smaller,
          " leaves classes out");
}

std::vector<float> Groups::probabilities(std::span<const float> of_classes) const {
  std::vector<double> sums(count());
  for (size_t i = 0; i < of_classes.size(); ++i) {
    double& sum = sums[group_of_[i]];
    const double one = of_classes[i];
    sum = options_.multi_label ? std::max(sum, one) : sum + one;
  }
  std::vector<float> result;
  // Rounding may bring a sum above one.
  for (const double sum : sums) result.push_back(std::min(static_cast<float>(sum), 1.0f));
  return result;
}

std::vector<Prediction> Groups::top(std::span<const float> probabilities, size_t k) const {
  std::vector<size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return probabilities[i]; });
  order.resize(std::min(k, order.size()));
  std::vector<Prediction> best;
  for (const size_t i : order) best.push_back({i, names_[i], probabilities[i]});
  return best;
}

std::vector<Prediction> Groups::of(std::span<const Prediction> classes) const {
  std::vector<float> known(group_of_.size());
  std::vector<bool> occurs(count());
  for (const Prediction& p : classes) {
    if (p.index >= known.size()) continue;
    known[p.index] = p.probability;
    occurs[group_of_[p.index]] = true;
  }
  auto best = top(probabilities(known), count());
  std::erase_if(best, [&](const Prediction& p) { return !occurs[p.index]; });
  return best;
}

Json Groups::to_json() const {
  Json json = Json::array();
  for (size_t group = 0; group < count(); ++group)
    json.push_back({{"name", names_[group]}, {"classes", ranges(group_of_, group)}});
  return json;
}

std::string Groups::summary() const {
  std::string text = "groups of " + format_count(group_of_.size()) + " classes: ";
  for (size_t group = 0; group < std::min(count(), kMostListed); ++group)
    text += (group == 0 ? "" : ", ") + names_[group] + " " +
            format_count(static_cast<size_t>(std::ranges::count(group_of_, group)));
  if (count() > kMostListed) text += ", and " + format_count(count() - kMostListed) + " more";
  return text;
}

void add_groups_option(cxxopts::Options& options) {
  options.add_options(
      "Output",
      {{"groups",
        "coarse classes instead of the model's own: names of WordNet such as dog,bird,vehicle (for "
        "ImageNet's classes), or a FILE of lines \"group = labels, patterns or WordNet ids\"; the "
        "probability of a group is the sum over its classes, and the rest is 'other'",
        cxxopts::value<std::string>(), "NAMES|FILE"}});
}

std::vector<GroupSpec> parse_groups(const cxxopts::ParseResult& arguments) {
  if (arguments.count("groups") == 0) return {};
  const std::string text = arguments["groups"].as<std::string>();
  std::error_code ignored;
  if (std::filesystem::exists(text, ignored) && !std::filesystem::is_directory(text, ignored))
    return read_group_file(text);
  if (text.find('/') != text.npos || text.ends_with(".txt"))
    fail_usage("option '--groups' got '", text, "': no such file");
  return parse_group_names(text);
}

std::optional<Groups> make_groups(const std::vector<GroupSpec>& specs, const Classifier& classifier,
                                  bool quiet) {
  if (specs.empty()) return std::nullopt;
  const auto& head = classifier.config().head;
  Groups groups(specs, class_names(classifier), {.multi_label = head.multi_label});
  if (!quiet) say_groups(groups);
  return groups;
}

void say_groups(const Groups& groups) {
  write_message(groups.summary());
  if (!groups.remark().empty()) write_message(groups.remark());
}

std::vector<Prediction> top_answers(const Classifier& classifier,
                                    const std::optional<Groups>& groups,
                                    std::span<const float> logits, size_t k) {
  const auto probabilities = classifier.probabilities(logits);
  return groups ? groups->top(groups->probabilities(probabilities), k)
                : classifier.top(probabilities, k);
}

}  // namespace vit::tools
