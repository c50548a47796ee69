#include "vit/train/export.h"

#include "weights/save.h"

namespace vit::train {

weights::Checkpoint as_checkpoint(const gradient::NetworkView<float>& network,
                                  const Identity& identity) {
  weights::Checkpoint checkpoint;
  checkpoint.path = network.config.architecture;
  checkpoint.config = network.config;
  checkpoint.recipe = identity.recipe;
  checkpoint.labels = identity.labels;
  for (const gradient::Slot& slot : network.layout.slots())
    checkpoint.add(
        slot.name(),
        weights::Tensor{weights::DType::kF32, slot.spec.shape,
                        weights::contiguous_strides(slot.spec.shape),
                        reinterpret_cast<const std::byte*>(network.numbers.data() + slot.offset)});
  return checkpoint;
}

void export_model(const std::filesystem::path& path, const gradient::NetworkView<float>& network,
                  const Identity& identity, const ExportOptions& options) {
  weights::SaveOptions save;
  save.dtype = options.dtype;
  for (const auto& [name, value] : options.notes) save.metadata[name] = value;
  weights::save(path, as_checkpoint(network, identity), save);
}

}  // namespace vit::train
