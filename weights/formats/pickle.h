/// Python pickles, read as data. A pickle is a program for a small stack machine; here every object
/// it would build becomes a node that says what was asked for, and nothing is ever called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weights/tensor.h"

namespace vit::weights {

/// Nodes refer to one another by number, so shared and cyclic objects need no care.
using NodeId = std::uint32_t;

struct PickleNode {
  enum class Kind : std::uint8_t {
    kOther,     ///< None, fractions, bytes, calls we do not know: nothing below is a weight
    kInteger,   ///< number
    kString,    ///< text
    kSequence,  ///< list, tuple or set: items
    kMapping,   ///< dict: items are key, value, key, value, …
    kObject,    ///< an instance of class `text`, as a mapping of its attributes
    kGlobal,    ///< a class or function, by name: text is "module name"
    kStorage,   ///< numbers kept beside the pickle: number is the node of the persistent id
    kTensor,    ///< number is its place in Pickle::tensors
  };
  Kind kind = Kind::kOther;
  std::int64_t number = 0;
  std::string_view text;  ///< of the pickle's bytes, or of Pickle::globals
  std::vector<NodeId> items;
};

/// Limits of what reading one pickle may cost. Every instruction that copies or grows something
/// pays for what it copies: a few bytes of pickle can ask for the same list a million times. Memory
/// may grow with the length of the pickle, because that of good ones does.
class PickleBudget {
 public:
  PickleBudget(size_t pickle_bytes, const std::string& where);

  /// Throws an Error once the steps of all instructions, or of all the items they touch, are more
  /// than any weight file takes.
  void take_steps(size_t count);
  /// The same for memory.
  void take_bytes(size_t count);

 private:
  const std::string& where_;
  size_t steps_left_;
  size_t bytes_left_;
};

/// A view of a storage that lies beside the pickle.
struct PickledTensor {
  DType dtype = DType::kF32;
  std::string storage;
  size_t offset = 0;  ///< in elements, like the strides
  Shape shape;
  std::vector<size_t> strides;
};

/// Texts are views of the bytes that it was read from: these must outlive it.
struct Pickle {
  std::deque<PickleNode> nodes;
  std::set<std::string, std::less<>> globals;  ///< "module name" of each class and function
  std::vector<PickledTensor> tensors;
  NodeId root = 0;
  size_t length = 0;  ///< bytes up to its end
};

/// Throws an Error that starts with `where` if the bytes are cut short, have an unknown instruction
/// or name a function that could do harm.
Pickle read_pickle(std::span<const std::byte> bytes, const std::string& where);

/// What calling `function` with these arguments would have given, for the few functions that
/// rebuild tensors and dictionaries; kOther for all others.
PickleNode rebuild(Pickle& pickle, std::string_view function, const std::vector<NodeId>& arguments,
                   PickleBudget& budget, const std::string& where);

/// The tensors below the root, named by their path: "model.blocks.0.norm1.weight". Whole modules
/// are followed as well as state dictionaries.
std::map<std::string, PickledTensor> named_tensors(const Pickle& pickle, const std::string& where);

}  // namespace vit::weights
