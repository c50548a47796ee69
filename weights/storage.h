/// What keeps the bytes behind tensors alive.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace vit::weights {

class MappedFile;

/// A mapped file, or memory of our own. Pages of a file may be handed back once they have been
/// read: they stay in the system's cache and come back when touched. Memory of our own would be
/// lost that way.
class Storage {
 public:
  Storage(std::shared_ptr<const MappedFile> file);  // implicit: a file is a storage
  template <typename T>
  Storage(std::shared_ptr<T> memory) : owner_(std::move(memory)) {}  // implicit: so is memory

  /// Hands back the whole pages within `bytes`, if they are of this storage and of a file.
  void release(std::span<const std::byte> bytes) const;

 private:
  std::shared_ptr<const void> owner_;
  std::span<const std::byte> file_;
};

}  // namespace vit::weights
