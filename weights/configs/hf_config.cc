#include <algorithm>
#include <charconv>
#include <cmath>

#include "vit/base/error.h"
#include "weights/configs/config_files.h"
#include "weights/known/timm_arguments.h"
#include "weights/known/unsupported.h"

namespace vit::weights {
namespace {

using nlohmann::json;

/// What transformers takes where a config.json says nothing.
struct Family {
  std::string_view model_type;
  double norm_eps;
  std::string_view activation;
  size_t image_size;
};

constexpr Family kFamilies[] = {
    {"vit", 1e-12, "gelu", 224},
    {"deit", 1e-12, "gelu", 224},
    {"vit_msn", 1e-6, "gelu", 224},
    {"vit_mae", 1e-12, "gelu", 224},
    {"ijepa", 1e-12, "gelu", 224},
    {"dinov2", 1e-6, "gelu", 224},
    {"dinov2_with_registers", 1e-6, "gelu", 224},
    {"clip", 1e-5, "quick_gelu", 224},
    {"clip_vision_model", 1e-5, "quick_gelu", 224},
    {"beit", 1e-12, "gelu", 224},
    {"data2vec-vision", 1e-12, "gelu", 224},
    {"dinov3_vit", 1e-5, "gelu", 224},
    {"siglip", 1e-6, "gelu_pytorch_tanh", 224},
    {"siglip_vision_model", 1e-6, "gelu_pytorch_tanh", 224},
};
constexpr size_t kUsualHeads = 12;
constexpr double kUsualTheta = 100.0;

const Family& family_of(const Fields& file, const std::string& model_type) {
  std::string known;
  for (const auto& family : kFamilies) {
    if (family.model_type == model_type) return family;
    known += (known.empty() ? "" : ", ") + std::string(family.model_type);
  }
  if (const auto* other = unsupported_model_type(model_type))
    fail_at(file.where(), "'", model_type, "' is ", description_of(*other));
  fail_at(file.where(), "model_type '", model_type, "' is not one this toolkit knows: ", known);
}

void set_size(const Fields& file, std::string_view name, size_t& value) {
  value = file.size(name).value_or(value);
}

void set_image_size(const Fields& file, const Family& family, ModelConfig& c) {
  const json* value = file.find("image_size");
  if (value != nullptr && value->is_array()) {
    const auto sizes = *file.numbers("image_size");
    if (sizes.size() != 2 || sizes[0] < 1 || sizes[1] < 1 || sizes[0] > 1e6 || sizes[1] > 1e6)
      file.refuse("image_size", "height and width");
    c.embedding.image_height = static_cast<size_t>(sizes[0]);
    c.embedding.image_width = static_cast<size_t>(sizes[1]);
  } else {
    c.embedding.image_height = c.embedding.image_width =
        file.size("image_size").value_or(family.image_size);
  }
  if (const json* patch = file.find("patch_size"); patch != nullptr && patch->is_number())
    c.embedding.patch_height = c.embedding.patch_width = *file.size("patch_size");
}

/// The MLP's width, where the config says it: directly, or as DINOv2 does.
void set_mlp(const Fields& file, ModelConfig& c) {
  const bool dino = file.has("mlp_ratio") && !file.has("hidden_dim");
  if (!dino) {
    set_size(file, "intermediate_size", c.encoder.mlp_width);
    return;
  }
  const double ratio = std::clamp(*file.number("mlp_ratio"), 0.0, 1e6);
  auto hidden = static_cast<size_t>(static_cast<double>(c.encoder.width) * ratio);
  c.encoder.gated_mlp = file.flag("use_swiglu_ffn").value_or(false);
  if (c.encoder.gated_mlp) {  // two thirds, since gate and value share the work; in steps of 8
    hidden = (static_cast<size_t>(static_cast<double>(hidden) * 2.0 / 3.0) + 7) / 8 * 8;
    c.encoder.activation = Activation::kSilu;
  }
  c.encoder.mlp_width = hidden;
}

void set_encoder(const Fields& file, const Family& family, ModelConfig& c) {
  set_size(file, "hidden_size", c.encoder.width);
  set_size(file, "num_hidden_layers", c.encoder.depth);
  set_size(file, "num_channels", c.embedding.channels);
  c.encoder.heads = file.size("num_attention_heads").value_or(kUsualHeads);
  c.encoder.key_value_heads = c.encoder.heads;
  c.encoder.norm_eps = static_cast<float>(file.number("layer_norm_eps").value_or(family.norm_eps));
  c.encoder.activation = activation_named(
      file.text("hidden_act").value_or(std::string(family.activation)), file.where());
  c.encoder.qkv_bias = file.flag("qkv_bias").value_or(c.encoder.qkv_bias);
  set_mlp(file, c);
}

/// Classifiers on towers that were trained without one average the patches, and CLIP's does so
/// before its last norm.
void set_pooling(const std::string& model_type, ModelConfig& c) {
  const bool tower = model_type.starts_with("clip") || model_type.starts_with("siglip");
  if (model_type == "ijepa" || (tower && c.architecture.ends_with("ForImageClassification")))
    c.head.pooling = Pooling::kMean;
  if (model_type.starts_with("clip") && c.head.pooling == Pooling::kMean) c.head.final_norm = false;
}

/// What transformers does that the tensors do not tell: the periods of DINOv3's rotary positions,
/// and plain bilinear resampling of BEiT's tables of offsets.
void set_positions(const Fields& file, const std::string& model_type, ModelConfig& c) {
  if (model_type == "dinov3_vit") {
    const Fields rope = file.object("rope_parameters").value_or(file);
    c.encoder.rotary.temperature =
        static_cast<float>(rope.number("rope_theta").value_or(kUsualTheta));
    if (file.flag("key_bias").value_or(false))
      fail_at(file.where(), "key_bias is true, expected false as in published models");
  }
  RelativeBiasConfig& bias = c.encoder.relative_bias;
  if (bias.kind != RelativeBiasKind::kTable) return;
  bias.resampling = RelativeResampling::kBilinear;
  if (c.embedding.patch_height != 0 && c.embedding.patch_width != 0) bias.grid = c.embedding.grid();
}

/// {"0": "tench", …}. Nothing where they are the placeholders LABEL_0, LABEL_1, …
std::vector<std::string> labels_of(const Fields& file, size_t classes) {
  const json* names = file.find("id2label");
  if (names == nullptr || !names->is_object() || names->size() != classes) return {};
  std::vector<std::string> labels(classes);
  bool placeholders = true;
  for (const auto& [id, name] : names->items()) {
    size_t index = classes;
    std::from_chars(id.data(), id.data() + id.size(), index);
    if (index >= classes || !name.is_string())
      file.refuse("id2label", "a name for each class, counted from 0");
    labels[index] = name.get<std::string>();
    placeholders = placeholders && labels[index] == "LABEL_" + id;
  }
  if (placeholders) return {};
  return labels;
}

std::string architecture_of(const Fields& file, const std::string& model_type) {
  const json* names = file.find("architectures");
  if (names != nullptr && names->is_array() && !names->empty() && names->front().is_string())
    return names->front().get<std::string>();
  return model_type;
}

}  // namespace

ModelCard read_hf_config(const Fields& file, const ModelConfig& inferred) {
  const std::string model_type = file.text("model_type").value_or("vit");
  const Family& family = family_of(file, model_type);
  // Old files repeat the fields in a dict, which wins where it is there.
  const auto old = file.object("vision_config_dict");
  const Fields vision = old ? *old : file.object("vision_config").value_or(file);
  ModelCard result;
  ModelConfig& c = result.config;
  c = inferred;
  c.architecture = architecture_of(file, model_type);
  set_image_size(vision, family, c);
  set_encoder(vision, family, c);
  set_positions(vision, model_type, c);
  set_pooling(model_type, c);
  c.head.multi_label = file.text("problem_type") == "multi_label_classification";
  result.labels = labels_of(file, c.head.classes);
  result.recipe = default_hf_recipe(model_type, c);
  return result;
}

}  // namespace vit::weights
