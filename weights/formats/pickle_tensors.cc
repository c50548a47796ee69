#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "vit/base/error.h"
#include "weights/formats/pickle.h"
#include "weights/formats/tensor_file.h"

namespace vit::weights {
namespace {

using Kind = PickleNode::Kind;

constexpr size_t kDeepestName = 32;
constexpr size_t kMostVisits = 300'000;
// 100,000 names of 240 bytes.
constexpr size_t kMostNameBytes = 24'000'000;

std::optional<DType> dtype_named(std::string_view name) {
  constexpr std::pair<std::string_view, DType> kNames[] = {
      {"torch FloatStorage", DType::kF32},     {"torch float32", DType::kF32},
      {"torch DoubleStorage", DType::kF64},    {"torch float64", DType::kF64},
      {"torch HalfStorage", DType::kF16},      {"torch float16", DType::kF16},
      {"torch BFloat16Storage", DType::kBf16}, {"torch bfloat16", DType::kBf16},
      {"torch LongStorage", DType::kI64},      {"torch int64", DType::kI64},
      {"torch IntStorage", DType::kI32},       {"torch int32", DType::kI32},
      {"torch ShortStorage", DType::kI16},     {"torch int16", DType::kI16},
      {"torch CharStorage", DType::kI8},       {"torch int8", DType::kI8},
      {"torch ByteStorage", DType::kU8},       {"torch uint8", DType::kU8},
      {"torch BoolStorage", DType::kBool},     {"torch bool", DType::kBool},
  };
  for (const auto& [known, dtype] : kNames)
    if (known == name) return dtype;
  return {};
}

/// Reads the arguments of one call, by place.
class Call {
 public:
  Call(const Pickle& pickle, const std::vector<NodeId>& arguments, const std::string& where)
      : pickle_(pickle), arguments_(arguments), where_(where) {}

  size_t count() const { return arguments_.size(); }
  const PickleNode& at(size_t place) const {
    if (place >= arguments_.size())
      fail_at(where_, "its pickle calls a function with too few arguments");
    return pickle_.nodes[arguments_[place]];
  }
  const PickleNode& node(NodeId id) const { return pickle_.nodes[id]; }
  const PickleNode& item(const PickleNode& of, size_t place) const {
    if (place >= of.items.size()) fail_at(where_, "its pickle has a storage with too few fields");
    return pickle_.nodes[of.items[place]];
  }
  size_t size(const PickleNode& node) const {
    if (node.kind != Kind::kInteger || node.number < 0)
      fail_at(where_, "its pickle has a tensor with a size that is not a whole number");
    return static_cast<size_t>(node.number);
  }
  std::vector<size_t> sizes(const PickleNode& node) const {
    if (node.items.size() > kMostAxes)
      fail_at(where_, "its pickle has a tensor of ", node.items.size(), " axes, at most ",
              kMostAxes);
    std::vector<size_t> result;
    for (const NodeId id : node.items) result.push_back(size(pickle_.nodes[id]));
    return result;
  }

 private:
  const Pickle& pickle_;
  const std::vector<NodeId>& arguments_;
  const std::string& where_;
};

/// _rebuild_tensor_v2(storage, offset, size, stride, …); v3 has the dtype as its seventh.
/// The storage's persistent id is ("storage", class, key, place, count[, view of another]).
std::optional<PickledTensor> read_tensor(const Call& call, bool dtype_given) {
  if (call.at(0).kind != Kind::kStorage) return {};
  const PickleNode& storage = call.node(static_cast<NodeId>(call.at(0).number));
  const auto dtype = dtype_named(dtype_given ? call.at(6).text : call.item(storage, 1).text);
  if (!dtype) return {};  // complex, quantised: no weight of ours
  PickledTensor tensor;
  tensor.dtype = *dtype;
  tensor.storage = call.item(storage, 2).text;
  tensor.offset = call.size(call.at(1));
  tensor.shape = call.sizes(call.at(2));
  tensor.strides = call.sizes(call.at(3));
  if (storage.items.size() > 5) {  // old files: a storage that is a part of another
    const PickleNode& view = call.item(storage, 5);
    if (view.kind == Kind::kSequence) tensor.offset += call.size(call.item(view, 1));
  }
  return tensor;
}

PickleNode dictionary(const Pickle& pickle, const Call& call, PickleBudget& budget) {
  PickleNode result{Kind::kMapping, 0, {}, {}};
  if (call.count() == 0) return result;
  budget.take_steps(call.at(0).items.size());
  budget.take_bytes(2 * sizeof(NodeId) * call.at(0).items.size());
  for (const NodeId pair : call.at(0).items) {  // OrderedDict([(key, value), …])
    const auto& items = pickle.nodes[pair].items;
    if (items.size() == 2) result.items.insert(result.items.end(), items.begin(), items.end());
  }
  return result;
}

/// Walks the objects below the root and names the tensors among them.
class Namer {
 public:
  Namer(const Pickle& pickle, const std::string& where) : pickle_(pickle), where_(where) {}

  void walk(NodeId id, const std::string& name, size_t depth) {
    const PickleNode& node = pickle_.nodes[id];
    if (++visits_ > kMostVisits)
      fail_at(where_, "its pickle has more references than any weight file");
    if (node.kind == Kind::kTensor) {
      if (tensors.size() >= kMostTensors)
        fail_at(where_, "holds more than ", kMostTensors, " tensors");
      tensors.emplace(name, pickle_.tensors[static_cast<size_t>(node.number)]);
    } else if (depth < kDeepestName) {
      walk_items(node, name, depth);
    }
  }

  std::map<std::string, PickledTensor> tensors;

 private:
  std::string below(const std::string& name, std::string_view key) {
    name_bytes_ += name.size() + key.size();
    if (name_bytes_ > kMostNameBytes)
      fail_at(where_, "the names in its pickle take more than ", kMostNameBytes / 1'000'000, " MB");
    return name.empty() ? std::string(key) : (name + ".").append(key);
  }

  void walk_items(const PickleNode& node, const std::string& name, size_t depth) {
    if (node.kind != Kind::kMapping && node.kind != Kind::kObject) return;
    for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
      const PickleNode& key = pickle_.nodes[node.items[i]];
      if (key.kind != Kind::kString || key.text.size() > 200) continue;
      const bool scripted = node.text.starts_with("__torch__");  // attributes are the modules
      const bool transparent =
          key.text == "_modules" || key.text == "_parameters" || key.text == "_buffers";
      if (node.kind == Kind::kObject && transparent)
        walk(node.items[i + 1], name, depth + 1);  // what PyTorch leaves out of the name
      else if (node.kind == Kind::kMapping || scripted)
        walk(node.items[i + 1], below(name, key.text), depth + 1);
    }
  }

  const Pickle& pickle_;
  const std::string& where_;
  size_t visits_ = 0;
  size_t name_bytes_ = 0;
};

}  // namespace

PickleNode rebuild(Pickle& pickle, std::string_view function, const std::vector<NodeId>& arguments,
                   PickleBudget& budget, const std::string& where) {
  const Call call(pickle, arguments, where);
  if (function == "collections OrderedDict") return dictionary(pickle, call, budget);
  if (function == "collections defaultdict") return {Kind::kMapping, 0, {}, {}};
  if (function.starts_with("torch._utils _rebuild_parameter") && call.count() != 0)
    return call.at(0).kind == Kind::kTensor ? call.at(0) : PickleNode{};
  if (function == "torch._tensor _rebuild_from_type_v2" && call.count() >= 3) {
    const std::string_view inner = call.at(0).text;  // (function, type, arguments, state)
    if (inner == function) return {};
    return rebuild(pickle, inner, call.at(2).items, budget, where);
  }
  const bool v3 = function == "torch._utils _rebuild_tensor_v3";
  if (v3 || function == "torch._utils _rebuild_tensor_v2" ||
      function == "torch._utils _rebuild_tensor") {
    if (auto tensor = read_tensor(call, v3)) {
      budget.take_bytes(sizeof(PickledTensor) + tensor->storage.size() +
                        2 * sizeof(size_t) * kMostAxes);
      pickle.tensors.push_back(std::move(*tensor));
      return {Kind::kTensor, static_cast<std::int64_t>(pickle.tensors.size() - 1), {}, {}};
    }
  }
  return {};
}

std::map<std::string, PickledTensor> named_tensors(const Pickle& pickle, const std::string& where) {
  Namer namer(pickle, where);
  namer.walk(pickle.root, "", 0);
  return std::move(namer.tensors);
}

}  // namespace vit::weights
