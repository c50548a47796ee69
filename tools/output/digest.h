/// Hashes of files, as the hub uses them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace vit::tools {

/// Computed incrementally.
class Digest {
 public:
  static Digest sha256();
  /// git's name of a file's content: sha1 of "blob SIZE\0" and the bytes.
  static Digest git_blob(std::size_t size);

  void add(std::span<const std::byte> bytes);
  /// In lower-case hexadecimal. The digest cannot be used afterwards.
  std::string finish();

 private:
  struct State;
  struct Free {
    void operator()(State* state) const;
  };
  explicit Digest(const char* algorithm);
  std::unique_ptr<State, Free> state_;
};

}  // namespace vit::tools
