#include "weights/formats/pickle.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>

#include "vit/base/error.h"
#include "weights/formats/pickle_harm.h"
#include "weights/numbers.h"

namespace vit::weights {
namespace {

using Kind = PickleNode::Kind;

// A state dictionary of 100,000 tensors has 13 MB and takes about 6 million steps and 90 MB; one of
// a ViT takes a hundredth.
constexpr size_t kMostSteps = 16'000'000;
constexpr size_t kAlwaysAllowed = 32'000'000, kAllowedPerByte = 6;
constexpr size_t kLongestText = 1000;
constexpr NodeId kNobody = static_cast<NodeId>(-1);
// Beside the numbers themselves: what the allocator adds, and what a table's entry takes.
constexpr size_t kBytesOfList = 32, kBytesOfEntry = 64;

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, const std::string& where)
      : bytes_(bytes), where_(where), budget_(bytes.size(), where) {}

  Pickle run() {
    while (true) {
      budget_.take_steps(1);
      const auto code = take<std::uint8_t>();
      if (code == '.') {
        pickle_.root = pop();
        pickle_.length = at_;
        return std::move(pickle_);
      }
      if (!push_number(code) && !push_text(code) && !use_memo(code) && !build_container(code) &&
          !build_object(code) && !arrange(code))
        fail_at(where_, "its pickle has the unknown instruction ", +code, " at byte ", at_ - 1);
    }
  }

 private:
  template <typename T>
  T take() {
    return load<T>(take_bytes(sizeof(T)).data());
  }

  std::span<const std::byte> take_bytes(size_t count) {
    if (count > bytes_.size() - at_)
      fail_at(where_, "its pickle is cut short at byte ", bytes_.size());
    at_ += count;
    return bytes_.subspan(at_ - count, count);
  }

  std::string_view take_string(size_t count) {
    const auto taken = take_bytes(count);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

  std::string_view take_line() {
    const auto rest = bytes_.subspan(at_);
    const auto end = std::find(rest.begin(), rest.end(), std::byte{'\n'});
    const std::string_view line = take_string(static_cast<size_t>(end - rest.begin()));
    take_bytes(1);
    return line;
  }

  NodeId add(PickleNode node) {
    budget_.take_bytes(sizeof(PickleNode));
    if (!node.items.empty()) count_items(node.items.size());
    pickle_.nodes.push_back(std::move(node));
    return static_cast<NodeId>(pickle_.nodes.size() - 1);
  }
  /// Items that an object is about to hold.
  void count_items(size_t count) {
    budget_.take_steps(count);
    budget_.take_bytes(kBytesOfList + count * sizeof(NodeId));
  }
  // Instructions answer true, so that one line can do and report them.
  bool push(PickleNode node) { return push_again(add(std::move(node))); }
  /// Objects whose content is never read; one object stands for all of them.
  bool push_other() {
    if (!other_) other_ = add({});
    return push_again(*other_);
  }
  /// Sizes repeat throughout a file; equal ones are one object.
  bool push_integer(std::int64_t value) {
    const auto [found, is_new] = integers_.try_emplace(value);
    if (is_new) {
      budget_.take_bytes(kBytesOfEntry);
      found->second = add({Kind::kInteger, value, {}, {}});
    }
    return push_again(found->second);
  }
  /// Long texts are logs and source code of training scripts: no name of a weight.
  bool push_string(std::string_view text) {
    if (text.size() > kLongestText) return push_other();
    return push({Kind::kString, 0, text, {}});
  }
  bool push_sequence(std::vector<NodeId> items) {
    return push({Kind::kSequence, 0, {}, std::move(items)});
  }
  bool push_mapping(std::vector<NodeId> items) {
    return push({Kind::kMapping, 0, {}, std::move(items)});
  }
  bool push_again(NodeId id) {
    if (stack_.size() == stack_.capacity()) budget_.take_bytes(stack_.size() * sizeof(NodeId));
    stack_.push_back(id);
    return true;
  }
  bool push_mark() {
    if (marks_.size() == marks_.capacity()) budget_.take_bytes(marks_.size() * sizeof(size_t));
    marks_.push_back(stack_.size());
    return true;
  }

  NodeId pop() {
    if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back()))
      fail_at(where_, "its pickle takes from an empty stack at byte ", at_);
    const NodeId top = stack_.back();
    stack_.pop_back();
    return top;
  }
  NodeId top() {
    const NodeId node = pop();
    stack_.push_back(node);
    return node;
  }
  /// Everything above the last mark, which goes too.
  std::vector<NodeId> pop_marked() {
    if (marks_.empty()) fail_at(where_, "its pickle has no mark at byte ", at_);
    budget_.take_steps(stack_.size() - marks_.back());
    std::vector<NodeId> items(stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back()),
                              stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return items;
  }
  PickleNode& node(NodeId id) { return pickle_.nodes[id]; }

  bool push_number(std::uint8_t code) {
    if (code == 'J') return push_integer(take<std::int32_t>());
    if (code == 'K') return push_integer(take<std::uint8_t>());
    if (code == 'M') return push_integer(take<std::uint16_t>());
    if (code == 0x8a) return push_long(take_bytes(take<std::uint8_t>()));
    if (code == 0x8b) return push_long(take_bytes(take<std::uint32_t>()));
    if (code == 'I' || code == 'L') return push_decimal(take_line());
    if (code == 0x88) return push_integer(1);
    if (code == 0x89) return push_integer(0);
    if (code == 'N') return push_other();
    if (code == 'F') return take_line(), push_other();
    if (code == 'G') return take_bytes(sizeof(double)), push_other();
    return false;
  }

  bool push_long(std::span<const std::byte> digits) {
    const size_t length = digits.size();
    if (length > sizeof(std::int64_t)) return push_other();  // larger than any size of a tensor
    std::uint64_t value = 0;
    for (size_t i = 0; i < length; ++i) value |= std::to_integer<std::uint64_t>(digits[i]) << 8 * i;
    const bool negative = length != 0 && std::to_integer<unsigned>(digits[length - 1]) >= 0x80;
    if (negative && length < 8) value |= ~std::uint64_t{0} << 8 * length;
    return push_integer(std::bit_cast<std::int64_t>(value));
  }

  bool push_decimal(std::string_view line) {
    std::int64_t value = 0;
    const auto read = std::from_chars(line.data(), line.data() + line.size(), value);
    return read.ec == std::errc() ? push_integer(value) : push_other();
  }

  bool push_text(std::uint8_t code) {
    if (code == 'X' || code == 'T') return push_string(take_string(take<std::uint32_t>()));
    if (code == 0x8c || code == 'U') return push_string(take_string(take<std::uint8_t>()));
    if (code == 0x8d) return push_string(take_string(take<std::uint64_t>()));
    if (code == 'B') return take_bytes(take<std::uint32_t>()), push_other();
    if (code == 'C') return take_bytes(take<std::uint8_t>()), push_other();
    if (code == 0x8e || code == 0x96) return take_bytes(take<std::uint64_t>()), push_other();
    if (code == 'V') return push_string(take_line());
    if (code == 'S') return push_quoted(take_line());
    return false;
  }

  bool push_quoted(std::string_view line) {
    if (line.size() < 2) fail_at(where_, "its pickle has a string without quotes");
    return push_string(line.substr(1, line.size() - 2));
  }

  bool use_memo(std::uint8_t code) {
    if (code == 'q') return remember(take<std::uint8_t>());
    if (code == 'r') return remember(take<std::uint32_t>());
    if (code == 'p') return remember(line_number());
    if (code == 0x94) return remember(remembered_);
    if (code == 'h') return recall(take<std::uint8_t>());
    if (code == 'j') return recall(take<std::uint32_t>());
    if (code == 'g') return recall(line_number());
    return false;
  }

  size_t line_number() {
    const std::string_view line = take_line();
    size_t value = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), value).ec != std::errc())
      fail_at(where_, "its pickle counts with '", line.substr(0, 20), "'");
    return value;
  }

  /// Objects are numbered one after the other by every known writer, though any number is allowed.
  NodeId& memo_slot(size_t key) {
    constexpr size_t kLargestGap = 1024;
    if (key >= memo_.size() + kLargestGap) {
      const auto [found, is_new] = far_memo_.try_emplace(key, kNobody);
      if (is_new) budget_.take_bytes(kBytesOfEntry);
      return found->second;
    }
    if (key >= memo_.size()) {
      budget_.take_bytes((key + 1 - memo_.size()) * sizeof(NodeId));
      memo_.resize(key + 1, kNobody);
    }
    return memo_[key];
  }

  bool remember(size_t key) {
    NodeId& slot = memo_slot(key);
    if (slot == kNobody) ++remembered_;
    slot = top();
    return true;
  }

  bool recall(size_t key) {
    const NodeId found = memo_slot(key);
    if (found == kNobody)
      fail_at(where_, "its pickle recalls object ", key, ", which it never stored");
    return push_again(found);
  }

  bool build_container(std::uint8_t code) {
    if (code == ')') return push_empty_tuple();
    if (code == ']' || code == 0x8f) return push_sequence({});
    if (code == 'l' || code == 't' || code == 0x91) return push_sequence(pop_marked());
    if (code >= 0x85 && code <= 0x87) return push_sequence(pop_last(code - 0x84u));
    if (code == '}') return push_mapping({});
    if (code == 'd') return push_mapping(paired(pop_marked()));
    if (code == 'a') return extend(Kind::kSequence, pop_last(1));
    if (code == 'e' || code == 0x90) return extend(Kind::kSequence, pop_marked());
    if (code == 's') return extend(Kind::kMapping, pop_last(2));
    if (code == 'u') return extend(Kind::kMapping, paired(pop_marked()));
    return false;
  }

  /// Every call without arguments has one; no instruction of Python changes it.
  bool push_empty_tuple() {
    if (!empty_tuple_) empty_tuple_ = add({Kind::kSequence, 0, {}, {}});
    return push_again(*empty_tuple_);
  }

  std::vector<NodeId> pop_last(size_t count) {
    std::vector<NodeId> items(count);
    for (size_t i = count; i-- > 0;) items[i] = pop();
    return items;
  }

  std::vector<NodeId> paired(std::vector<NodeId> items) const {
    if (items.size() % 2 != 0) fail_at(where_, "its pickle has a key without a value");
    return items;
  }

  /// Other objects may be lists or dictionaries too; their content is no weight.
  bool extend(Kind kind, const std::vector<NodeId>& items) {
    if (top() == empty_tuple_) return true;
    PickleNode& target = node(top());
    const bool mapping = target.kind == Kind::kMapping || target.kind == Kind::kObject;
    if (target.kind != kind && !(kind == Kind::kMapping && mapping)) return true;
    count_items(items.size());
    target.items.insert(target.items.end(), items.begin(), items.end());
    return true;
  }

  bool build_object(std::uint8_t code) {
    if (code == 'c') {
      const std::string_view module = take_line();
      return push_global(module, take_line());
    }
    if (code == 0x93) {
      const auto names = pop_last(2);
      if (node(names[0]).kind != Kind::kString || node(names[1]).kind != Kind::kString)
        fail_at(where_, "its pickle names a class by something that is not text at byte ", at_);
      return push_global(node(names[0]).text, node(names[1]).text);
    }
    if (code == 'R') return call(pop_last(2));
    if (code == 0x81) return instantiate(pop_last(2));
    if (code == 0x92) return instantiate(pop_last(3));  // with named arguments
    if (code == 'b') return set_state(pop());
    if (code == 'Q') return push({Kind::kStorage, pop(), {}, {}});
    return false;
  }

  bool push_global(std::string_view module, std::string_view name) {
    if (is_harmful(module, name))
      fail_at(where_, "its pickle asks Python to run ", module.substr(0, 40), ".",
              name.substr(0, 40),
              ", which no weight file needs; it was not run, and the file is refused");
    constexpr size_t kBytesPerStep = 16;  // a line may have any length
    budget_.take_steps((module.size() + name.size()) / kBytesPerStep);
    std::string text(module);
    text.append(" ").append(name);
    auto found = pickle_.globals.find(text);
    if (found == pickle_.globals.end()) {
      budget_.take_bytes(kBytesOfEntry + text.size());
      found = pickle_.globals.insert(std::move(text)).first;
    }
    return push({Kind::kGlobal, 0, *found, {}});
  }

  bool call(const std::vector<NodeId>& function_and_arguments) {
    const PickleNode& function = node(function_and_arguments[0]);
    if (function.kind != Kind::kGlobal) return push({});  // its own: it may get attributes
    const auto& arguments = node(function_and_arguments[1]).items;
    return push(rebuild(pickle_, function.text, arguments, budget_, where_));
  }

  bool instantiate(const std::vector<NodeId>& type_and_arguments) {
    if (node(type_and_arguments[0]).text == "collections OrderedDict")
      return call(type_and_arguments);
    return push({Kind::kObject, 0, node(type_and_arguments[0]).text, {}});
  }

  /// The attributes of an object. A dictionary's own are of no interest.
  bool set_state(NodeId state) {
    if (node(state).kind != Kind::kMapping || top() == other_) return true;
    PickleNode& target = node(top());
    if (target.kind == Kind::kOther) target.kind = Kind::kObject;
    if (target.kind != Kind::kObject) return true;
    count_items(node(state).items.size());
    target.items = node(state).items;
    return true;
  }

  bool arrange(std::uint8_t code) {
    if (code == 0x80) return take_bytes(1), true;  // protocol
    if (code == 0x95) return take_bytes(8), true;  // frame
    if (code == '(') return push_mark();
    if (code == '0') return pop(), true;
    if (code == '1') return pop_marked(), true;
    if (code == '2') return push_again(top());
    return false;
  }

  std::span<const std::byte> bytes_;
  const std::string& where_;
  PickleBudget budget_;
  size_t at_ = 0;
  size_t remembered_ = 0;  ///< MEMOIZE numbers objects by their count
  Pickle pickle_;
  std::vector<NodeId> stack_;
  std::vector<size_t> marks_;
  std::vector<NodeId> memo_;
  std::unordered_map<size_t, NodeId> far_memo_;
  std::unordered_map<std::int64_t, NodeId> integers_;
  std::optional<NodeId> other_, empty_tuple_;
};

}  // namespace

PickleBudget::PickleBudget(size_t pickle_bytes, const std::string& where)
    : where_(where),
      steps_left_(kMostSteps),
      bytes_left_(kAlwaysAllowed + kAllowedPerByte * pickle_bytes) {}

void PickleBudget::take_steps(size_t count) {
  if (count > steps_left_) fail_at(where_, "its pickle takes more than ", kMostSteps, " steps");
  steps_left_ -= count;
}

void PickleBudget::take_bytes(size_t count) {
  if (count > bytes_left_) fail_at(where_, "its pickle takes more memory than any weight file's");
  bytes_left_ -= count;
}

Pickle read_pickle(std::span<const std::byte> bytes, const std::string& where) {
  return Machine(bytes, where).run();
}

}  // namespace vit::weights
