#include "weights/text.h"

#include <algorithm>
#include <cmath>

#include "vit/base/error.h"
#include "weights/configs/text_configs.h"
#include "weights/formats/tensor_file.h"
#include "weights/infer.h"
#include "weights/layouts/text_layout.h"
#include "weights/locate.h"
#include "weights/tensor_list.h"

namespace vit::weights {
namespace {

constexpr size_t kUsualHeadWidth = 64;

/// What files without a config mean: OpenAI's own.
void set_openai(TextConfig& c) {
  c.encoder.heads = std::max<size_t>(1, c.encoder.width / kUsualHeadWidth);
  c.encoder.key_value_heads = c.encoder.heads;
  c.encoder.norm_eps = 1e-5f;
  c.encoder.activation = Activation::kQuickGelu;
  c.tokenizer = TokenizerKind::kOpenAiClip;
  c.cleaning = TextCleaning::kRepairLower;
}

void describe(const Location& location, TextConfig& c) {
  if (location.config.empty()) return set_openai(c);
  const nlohmann::json content = read_json(location.config);
  const Fields file(content, location.config.string());
  if (file.has("model_cfg")) return read_open_clip_text_config(file, c);
  if (file.has("model_type")) return read_hf_text_config(file, location.weights.parent_path(), c);
  set_openai(c);
}

/// OpenAI's names, but of others, whose towers are OpenCLIP's: Meta's Perception Encoder has an
/// attention pool of its own, EVA-CLIP a prefix before the text tower.
bool is_of_open_clip(const TensorMap& tensors) {
  return std::ranges::any_of(tensors, [](const auto& entry) {
    return entry.first.ends_with("visual.attn_pool.probe") ||
           entry.first.ends_with("text.token_embedding.weight");
  });
}

/// The one number of a tensor, or nothing where there is none.
std::optional<float> number_of(const WeightMap& weights, const char* name,
                               const std::string& where) {
  const auto found = weights.find(name);
  if (found == weights.end()) return {};
  if (found->second.size() != 1)
    fail_at(where, "tensor '", name, "' has shape ", to_string(found->second.shape()),
            ", expected one number");
  float value = 0.0f;
  found->second.read_rows(0, 1, &value);
  if (!std::isfinite(value)) fail_at(where, "tensor '", name, "' is ", value);
  return value;
}

}  // namespace

TextCheckpoint open_text(const std::filesystem::path& path) {
  const Location location = locate(path);
  const std::string where = path.string();
  TensorFile file = read_tensor_file(location.weights);
  auto found = interpret_text(file.tensors, where);
  if (!found)
    fail_at(where,
            "this model has no text tower; labels in words need a two-tower model, such as "
            "CLIP or SigLIP");

  TextCheckpoint text;
  text.folder = location.weights.parent_path();
  text.config = infer_text_config(found->weights, where);
  describe(location, text.config);
  if (location.config.empty() && is_of_open_clip(file.tensors)) {
    text.config.encoder.activation = Activation::kGelu;
    text.config.tokenizer = TokenizerKind::kOpenClip;
  }
  validate(text.config, where);
  text.scale = std::exp(number_of(found->weights, "logit_scale", where).value_or(0.0f));
  if (!std::isfinite(text.scale)) fail_at(where, "exp of 'logit_scale' is not finite");
  const auto bias = number_of(found->weights, "logit_bias", where);
  text.bias = bias.value_or(0.0f);
  text.sigmoid = bias.has_value();

  text.tower.path = where;
  text.tower.format = file.format;
  text.tower.layout = found->layout;
  check_tensors(text.config, found->weights, where);
  for_each_tensor(text.config, [&](const TensorSpec& spec) {
    auto weight = found->weights.extract(spec.name);
    if (!weight.empty()) text.tower.add(weight.key(), std::move(weight.mapped()));
  });
  for (auto& storage : file.storage) text.tower.keep(std::move(storage));
  return text;
}

}  // namespace vit::weights
