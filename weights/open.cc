#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "vit/base/error.h"
#include "weights/checkpoint.h"
#include "weights/configs/config_files.h"
#include "weights/configs/self_description.h"
#include "weights/formats/tensor_file.h"
#include "weights/infer.h"
#include "weights/known/architectures.h"
#include "weights/known/heads.h"
#include "weights/known/labels.h"
#include "weights/layouts/layout.h"
#include "weights/layouts/text_layout.h"
#include "weights/locate.h"
#include "weights/tensor_list.h"

namespace vit::weights {
namespace {

constexpr size_t kImagenetClasses = 1000;

/// What its authors' recipe most likely is, where no file says it.
Recipe usual_recipe(const Layout& layout, const ModelConfig& config) {
  TimmRecipe timm;
  timm.height = config.embedding.image_height;
  timm.width = config.embedding.image_width;
  // Families with timm's recipes evaluate large images without a crop.
  const bool large = layout.crop_pct == 0.9 && config.embedding.image_height >= 384;
  const bool whole = large || config.head.class_layers != 0;  // CaiT
  timm.crop_pct = whole ? 1.0 : layout.crop_pct;
  timm.interpolation = layout.interpolation;
  timm.crop_mode = layout.crop_mode;
  Recipe recipe = recipe_of(timm, std::string(layout.name));
  set_statistics(layout.statistics, recipe);
  // Of those who share timm's names, DeiT, DINO and their successors use ImageNet's statistics.
  // BEiT, relpos, NaFlex and Perception Encoder have layer scales too, and half.
  const bool relative = config.encoder.relative_bias.kind != RelativeBiasKind::kNone;
  const bool facebook = (config.encoder.layer_scale || config.head.distilled_head) && !relative;
  if (layout.shared_names && facebook) set_statistics("imagenet", recipe);
  if (layout.family == LayoutFamily::kTimm && config.embedding.norm_before_blocks)
    set_statistics("clip", recipe);
  return recipe;
}

/// A bare file may still be called after its architecture: "deit_tiny_patch16_224-a1311bcf.pth".
const Architecture* architecture_in_name(const std::filesystem::path& file) {
  std::string name = file.filename().string();
  name = name.substr(0, name.find('.'));
  if (const auto* known = find_architecture(name)) return known;
  return find_architecture(name.substr(0, name.find('-')));
}

/// Rotary positions that follow from the grid leave nothing in timm's files. Where such a model
/// cannot be told from one without them, a guess would give wrong answers in silence.
void refuse_invisible_positions(const ModelConfig& c, const std::string& where) {
  const bool no_bias = c.encoder.relative_bias.kind == RelativeBiasKind::kNone;
  const bool no_rotary = c.encoder.rotary.kind == RotaryKind::kNone;
  const bool no_positions = c.embedding.positions == PositionKind::kNone && no_bias && no_rotary;
  const bool eva = !c.encoder.key_bias && no_bias && no_rotary;
  const bool pool_reads_class =
      c.head.pooling == Pooling::kAttention && !c.embedding.prefix.empty();
  const bool no_last_norm = !c.head.final_norm && !c.head.pooled_norm;
  const bool perception = c.embedding.norm_before_blocks && (pool_reads_class || no_last_norm);
  if (no_positions || eva || perception)
    fail_at(where, "looks like EVA, DINOv3, RoPE-ViT or Perception Encoder under timm's names; ",
            "whether and how it rotates positions is not in its tensors; name the file after its ",
            "architecture (eva02_tiny_patch14_336.safetensors) or put its config.json beside it");
}

ModelCard describe_bare(const Interpretation& found, const ModelConfig& inferred,
                        const Metadata& metadata, const std::filesystem::path& file) {
  ModelCard result;
  const Architecture* known =
      found.layout->named_after_architecture ? architecture_in_name(file) : nullptr;
  if (known != nullptr) {
    Arguments sizes{{"num_classes", std::to_string(inferred.head.classes)}};
    const bool tells_size = inferred.embedding.positions == PositionKind::kLearned ||
                            inferred.encoder.relative_bias.kind == RelativeBiasKind::kTable;
    if (tells_size) sizes["img_size"] = std::to_string(inferred.embedding.image_height);
    result.config = config_of(known->name, sizes, file.string());
    result.config.encoder.relative_bias.resampling = inferred.encoder.relative_bias.resampling;
    result.recipe = known->recipe;
    result.assumptions.push_back("architecture and recipe of " + known->name +
                                 ", from the file's name");
  } else {
    if (found.layout->rotation_invisible) refuse_invisible_positions(inferred, file.string());
    result.config = inferred;
    result.recipe = usual_recipe(*found.layout, inferred);
    result.assumptions.push_back("the usual recipe of " + std::string(found.layout->name) +
                                 " checkpoints, activation " +
                                 std::string(to_string(inferred.encoder.activation)));
    if (inferred.encoder.layer_scale && found.layout->layer_scale_eps)
      result.config.encoder.norm_eps = *found.layout->layer_scale_eps;
  }
  apply_metadata(metadata, result);
  return result;
}

ModelCard describe(const Location& location, const Interpretation& found,
                   const ModelConfig& inferred, const Metadata& metadata) {
  if (location.config.empty()) return describe_bare(found, inferred, metadata, location.weights);
  const nlohmann::json content = read_json(location.config);
  const Fields file(content, location.config.string());
  if (file.has("architecture")) return read_timm_config(file);
  if (file.has("model_cfg")) return read_open_clip_config(file, inferred);
  if (!file.has("model_type"))
    fail_at(file.where(), "names neither an architecture (timm) nor a model_type (transformers)");

  ModelCard result = read_hf_config(file, inferred);
  if (!location.preprocessor.empty()) {
    const nlohmann::json recipe = read_json(location.preprocessor);
    result.recipe = read_preprocessor(Fields(recipe, location.preprocessor.string()),
                                      *file.text("model_type"), result.config);
  }
  return result;
}

/// A config may name a family whose tensors are not known. Then its name says more than what is
/// missing among the tensors.
void refuse_unsupported(const Location& location) {
  if (location.config.empty()) return;
  const nlohmann::json content = read_json(location.config);
  const Fields file(content, location.config.string());
  if (const std::string what = unsupported_in(file); !what.empty()) fail_at(file.where(), what);
}

void settle_heads(ModelConfig& config, const OpenOptions& options, const std::string& where,
                  std::vector<std::string>& assumptions) {
  if (options.heads != 0) {
    config.encoder.heads = config.encoder.key_value_heads = options.heads;
  } else if (config.encoder.heads == 0) {
    config.encoder.heads = config.encoder.key_value_heads = usual_heads(config, where);
    assumptions.push_back(std::to_string(config.encoder.heads) +
                          " attention heads, as known models of this size have");
  }
}

/// RoPE-ViT's authors store the frequencies of all heads of a layer side by side.
void split_frequencies(const EncoderConfig& encoder, WeightMap& weights) {
  const auto found = weights.find("rope.freqs");
  if (found == weights.end() || found->second.shape().size() != 3) return;
  const Shape shape{2, encoder.depth, encoder.heads, encoder.head_width() / 2};
  if (element_count(shape) == found->second.size()) found->second = found->second.reshaped(shape);
}

void settle_labels(Checkpoint& checkpoint, bool speaks_for_itself) {
  const size_t classes = checkpoint.config.head.classes;
  if (checkpoint.labels.size() != classes) {
    if (!checkpoint.labels.empty())
      checkpoint.assumptions.push_back(std::to_string(checkpoint.labels.size()) + " labels for " +
                                       std::to_string(classes) + " classes were passed over");
    checkpoint.labels.clear();
  }
  if (checkpoint.labels.empty() && classes == kImagenetClasses && !speaks_for_itself) {
    checkpoint.labels = imagenet1k_labels();
    checkpoint.assumptions.emplace_back("1000 classes are those of ImageNet-1k");
  }
}

/// Tensors of a pickle or a GGUF file may share their bytes: a few kilobytes could claim to be
/// terabytes of weights. Models whose layers share all their weights repeat them some dozen times.
void check_sharing(const Checkpoint& checkpoint, const std::filesystem::path& file) {
  constexpr size_t kAlwaysAllowed = 16 << 20, kMostPerByte = 64;
  std::error_code ignored;
  const std::uintmax_t bytes = std::filesystem::file_size(file, ignored);
  const size_t numbers = checkpoint.parameters();
  if (!ignored && numbers > kAlwaysAllowed && numbers / kMostPerByte > bytes)
    fail_at(checkpoint.path, "its tensors claim ", numbers, " numbers in a file of ", bytes,
            " bytes, at most ", kMostPerByte, " per byte");
}

/// Hands over exactly the tensors that the model is made of.
void take_weights(Interpretation& found, TensorFile& file, Checkpoint& checkpoint) {
  check_tensors(checkpoint.config, found.weights, checkpoint.path);
  for_each_tensor(checkpoint.config, [&](const TensorSpec& spec) {
    const auto weight = found.weights.extract(spec.name);
    if (!weight.empty()) checkpoint.add(weight.key(), std::move(weight.mapped()));
  });
  checkpoint.unused = std::move(found.unused);
  for (const auto& [name, weight] : found.weights) checkpoint.unused.push_back(name);
  for (auto& storage : file.storage) checkpoint.keep(std::move(storage));
}

/// Scales stop being tensors of their own and become part of the integers they belong to.
void attach_scales(TensorMap& tensors, const std::string& where) {
  for (auto& [name, tensor] : tensors) {
    if (tensor.dtype != DType::kI8) continue;
    const auto scales = tensors.find(name + std::string(kScaleSuffix));
    if (scales == tensors.end())
      fail_at(where, "tensor '", name, "' holds integers, but its scales '", name, kScaleSuffix,
              "' are missing");
    const Shape expected{tensor.shape.empty() ? 1 : tensor.shape.front()};
    if (scales->second.dtype != DType::kF32 || scales->second.shape != expected)
      fail_at(where, "tensor '", scales->first, "' is ", to_string(scales->second.dtype), " ",
              to_string(scales->second.shape), ", expected f32 ", to_string(expected));
    tensor.row_scales = scales->second.data;
  }
  std::erase_if(tensors, [&](const auto& entry) {
    if (!entry.first.ends_with(kScaleSuffix)) return false;
    const auto owner =
        tensors.find(entry.first.substr(0, entry.first.size() - kScaleSuffix.size()));
    return owner != tensors.end() && owner->second.row_scales == entry.second.data;
  });
}

/// A file that save() wrote: its names are the model's, and it says everything itself.
Checkpoint open_saved(TensorFile file, const std::string& where, const OpenOptions& options) {
  Checkpoint checkpoint;
  checkpoint.card() = read_self_description(file.metadata, where);
  checkpoint.path = where;
  checkpoint.format = file.format;
  checkpoint.layout = "vit";
  checkpoint.metadata = other_entries(file.metadata);
  settle_heads(checkpoint.config, options, where, checkpoint.assumptions);
  validate(checkpoint.config, where);
  validate(checkpoint.recipe, where);
  if (!checkpoint.labels.empty() && checkpoint.labels.size() != checkpoint.config.head.classes)
    fail_at(where, checkpoint.labels.size(), " labels for ", checkpoint.config.head.classes,
            " classes");
  if (!checkpoint.wordnet_ids.empty() &&
      checkpoint.wordnet_ids.size() != checkpoint.config.head.classes)
    fail_at(where, checkpoint.wordnet_ids.size(), " WordNet ids for ",
            checkpoint.config.head.classes, " classes");
  attach_scales(file.tensors, where);
  Interpretation found;
  for (auto& [name, tensor] : file.tensors) found.weights.emplace(name, std::move(tensor));
  take_weights(found, file, checkpoint);
  return checkpoint;
}

}  // namespace

Checkpoint open(const std::filesystem::path& path, const OpenOptions& options) {
  const Location location = locate(path);
  Checkpoint checkpoint;
  checkpoint.path = path.string();
  const std::string& where = checkpoint.path;

  TensorFile file = read_tensor_file(location.weights);
  if (describes_itself(file.metadata)) return open_saved(std::move(file), where, options);
  Interpretation found;
  ModelConfig inferred;
  try {
    found = interpret(file.tensors, where);
    inferred = infer_config(found, where);
  } catch (const Error&) {
    refuse_unsupported(location);
    throw;
  }
  checkpoint.card() = describe(location, found, inferred, file.metadata);
  checkpoint.format = file.format;
  checkpoint.layout = found.layout->name;
  checkpoint.text_tower = has_text_tower(file.tensors);

  ModelConfig& config = checkpoint.config;
  settle_heads(config, options, where, checkpoint.assumptions);
  validate(config, where);
  if (config.embedding.positions == PositionKind::kLearned)
    config.embedding.position_grid =
        position_grid_of(found.weights, config, config.embedding.grid(), where);
  config.embedding.image_height = checkpoint.recipe.crop_height;
  config.embedding.image_width = checkpoint.recipe.crop_width;
  validate(config, where);
  validate(checkpoint.recipe, where);

  split_frequencies(config.encoder, found.weights);
  const bool hugging_face = found.layout->family == LayoutFamily::kHuggingFace;
  settle_labels(checkpoint, hugging_face && !location.config.empty());
  take_weights(found, file, checkpoint);
  if (may_share_bytes(checkpoint.format)) check_sharing(checkpoint, location.weights);
  return checkpoint;
}

}  // namespace vit::weights
