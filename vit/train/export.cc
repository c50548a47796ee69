#include "vit/train/export.h"

#include "weights/save.h"

namespace vit::train {

weights::Checkpoint as_checkpoint(const gradient::NetworkView<float>& network, const Recipe& recipe,
                                  const std::vector<std::string>& labels) {
  weights::Checkpoint checkpoint;
  checkpoint.path = network.config.architecture;
  checkpoint.config = network.config;
  checkpoint.recipe = recipe;
  checkpoint.labels = labels;
  for (const gradient::Slot& slot : network.layout.slots())
    checkpoint.add(slot.name(), weights::Tensor{weights::DType::kF32, slot.spec.shape,
                                                weights::contiguous_strides(slot.spec.shape),
                                                reinterpret_cast<const std::byte*>(
                                                    network.rows.numbers.data() + slot.offset)});
  return checkpoint;
}

void export_model(const std::filesystem::path& path, const gradient::NetworkView<float>& network,
                  const Recipe& recipe, const std::vector<std::string>& labels,
                  const ExportOptions& options) {
  weights::SaveOptions save;
  save.dtype = options.dtype;
  for (const auto& [name, value] : options.notes) save.metadata[name] = value;
  weights::Checkpoint checkpoint = as_checkpoint(network, recipe, labels);
  checkpoint.wordnet_ids = options.wordnet_ids;
  weights::save(path, checkpoint, save);
}

}  // namespace vit::train
