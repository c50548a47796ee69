/// Python pickles, read as data. A pickle is a program for a small stack machine; here every object
/// it would build becomes a node that says what was asked for, and nothing is ever called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
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
    kStorage,   ///< numbers kept beside the pickle: items of the persistent id
    kTensor,    ///< number is its place in Pickle::tensors
  };
  Kind kind = Kind::kOther;
  std::int64_t number = 0;
  std::string text;
  std::vector<NodeId> items;
};

/// A view of a storage that lies beside the pickle.
struct PickledTensor {
  DType dtype = DType::kF32;
  std::string storage;
  size_t offset = 0;  ///< in elements, like the strides
  Shape shape;
  std::vector<size_t> strides;
};

struct Pickle {
  std::deque<PickleNode> nodes;
  std::vector<PickledTensor> tensors;
  NodeId root = 0;
  size_t length = 0;  ///< bytes up to its end
};

/// Throws an Error that `where` opens: cut short, an unknown instruction, one that names a function
/// that could do harm.
Pickle read_pickle(std::span<const std::byte> bytes, const std::string& where);

/// What calling `function` with these arguments would have given, for the few functions that
/// rebuild tensors and dictionaries; kOther for all others.
PickleNode rebuild(Pickle& pickle, const std::string& function,
                   const std::vector<NodeId>& arguments, const std::string& where);

/// The tensors below the root, named by their path: "model.blocks.0.norm1.weight". Whole modules
/// are followed as well as state dictionaries.
std::map<std::string, PickledTensor> named_tensors(const Pickle& pickle, const std::string& where);

}  // namespace vit::weights
