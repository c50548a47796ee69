/// A checkpoint as the model sees it: canonical names, whatever file and layout they came from.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weights/model_card.h"
#include "weights/storage.h"
#include "weights/tensor.h"
#include "weights/weight_format.h"

namespace vit::weights {

/// What a user may say where a file does not.
struct OpenOptions {
  size_t heads = 0;  ///< attention heads, 0: from the config, the tensors or the known sizes
};

/// What is known about a model, with its weights. Owns or maps the bytes of the weights; tensors
/// are views into them.
class Checkpoint : public ModelCard {
 public:
  std::string path;  ///< the file or folder that was opened; opens every message
  WeightFormat format = WeightFormat::kSafetensors;
  std::string layout;               ///< for people: "timm", "Hugging Face", …
  std::vector<std::string> unused;  ///< tensors of the file that the model does not have
  bool text_tower = false;          ///< whether the file has one too: see weights/text.h
  /// Of a file that save() wrote: the entries besides its own, such as a training run's.
  std::map<std::string, std::string, std::less<>> metadata;

  ModelCard& card() { return *this; }

  /// Null if there is none of this name.
  const Weight* find(std::string_view name) const;
  /// Throws an Error naming the checkpoint and the tensor.
  const Weight& at(std::string_view name) const;
  const std::map<std::string, Weight, std::less<>>& weights() const { return weights_; }
  /// The number formats of the weights, the one of most numbers first.
  std::vector<DType> dtypes() const;
  /// Numbers in all weights together.
  size_t parameters() const;

  void add(std::string name, Weight weight);
  /// As add(), of numbers in f32 that the checkpoint owns from now on.
  void add_numbers(std::string name, const Shape& shape, std::vector<float> numbers);
  /// Removes a weight; none if there is none of this name.
  std::optional<Weight> take(std::string_view name);
  /// Keeps alive what the weights view: a mapped file, inflated bytes.
  void keep(Storage storage);
  /// A weight has been read and will not be soon again: a mapped file's pages are handed back, so
  /// that loading a model does not hold its weights twice. It may still be read, only more slowly.
  void release(const Weight& weight) const;

 private:
  std::map<std::string, Weight, std::less<>> weights_;
  std::vector<Storage> storage_;
};

/// Opens a weight file, or a folder that holds one with its config.json (and
/// preprocessor_config.json). Throws an Error saying what is wrong with it.
Checkpoint open(const std::filesystem::path& path, const OpenOptions& options = {});

}  // namespace vit::weights
