#include "weights/configs/text_configs.h"

#include "vit/base/error.h"
#include "weights/known/timm_arguments.h"

namespace vit::weights {
namespace {

constexpr std::uint32_t kClipEnd = 49407;

void set_heads(const Fields& fields, const char* name, size_t usual, EncoderConfig& c) {
  c.heads = c.key_value_heads = fields.size(name).value_or(usual);
}

/// The tokenizer's class tells SigLIP from SigLIP 2, whose configs are alike.
bool is_gemma_tokenizer(const std::filesystem::path& folder) {
  const auto path = folder / "tokenizer_config.json";
  if (!std::filesystem::is_regular_file(path)) return false;
  const nlohmann::json content = read_json(path);
  const std::string name = Fields(content, path.string()).text("tokenizer_class").value_or("");
  return name.starts_with("Gemma") || name.starts_with("Siglip2");
}

void set_clip(const Fields& text, TextConfig& c) {
  set_heads(text, "num_attention_heads", 8, c.encoder);
  c.encoder.norm_eps = static_cast<float>(text.number("layer_norm_eps").value_or(1e-5));
  c.encoder.activation =
      activation_named(text.text("hidden_act").value_or("quick_gelu"), text.where());
  // Configs of before 2023 say 2 for the end token and mean the highest id.
  constexpr size_t kHistoricalEnd = 2;
  const size_t end = text.size("eos_token_id").value_or(kClipEnd);
  c.pooling = end == kHistoricalEnd ? TextPooling::kHighestId : TextPooling::kFirstEnd;
  c.end_token = static_cast<std::uint32_t>(end);
}

void set_siglip(const Fields& text, const std::filesystem::path& folder, TextConfig& c) {
  set_heads(text, "num_attention_heads", 12, c.encoder);
  c.encoder.norm_eps = static_cast<float>(text.number("layer_norm_eps").value_or(1e-6));
  c.encoder.activation =
      activation_named(text.text("hidden_act").value_or("gelu_pytorch_tanh"), text.where());
  c.causal = false;
  c.pooling = TextPooling::kLast;
  c.cleaning = is_gemma_tokenizer(folder) ? TextCleaning::kLower : TextCleaning::kCanonical;
}

TextPooling pooling_named(const Fields& text, const std::string& name) {
  if (name == "argmax") return TextPooling::kHighestId;
  if (name == "last") return TextPooling::kLast;
  if (name == "first") return TextPooling::kFirst;
  if (name == "eos") return TextPooling::kFirstEnd;
  text.refuse("pool_type", "argmax, last, first or eos");
}

/// OpenCLIP's own vocabulary, or the files that a hub's name stands for.
void set_open_clip_tokenizer(const Fields& text, TextConfig& c) {
  c.tokenizer = TokenizerKind::kOpenClip;
  c.cleaning = TextCleaning::kRepairLower;
  if (!text.has("hf_tokenizer_name")) return;
  c.tokenizer = TokenizerKind::kFiles;
  const auto arguments = text.object("tokenizer_kwargs");
  if (arguments && arguments->flag("strip_sep_token").value_or(false))
    arguments->refuse("strip_sep_token", "false");
  const std::string clean =
      arguments ? arguments->text("clean").value_or("whitespace") : std::string("whitespace");
  if (clean == "whitespace")
    c.cleaning = TextCleaning::kRepairSpaces;
  else if (clean == "canonicalize")
    c.cleaning = TextCleaning::kRepairCanonical;
  else if (clean != "lower")
    arguments->refuse("clean", "whitespace, lower or canonicalize");
}

}  // namespace

Activation open_clip_activation(const Fields& model, const Fields& tower) {
  if (model.flag("quick_gelu").value_or(false)) return Activation::kQuickGelu;
  const auto arguments = tower.object("act_kwargs");
  const bool tanh = arguments && arguments->text("approximate") == "tanh";
  return tanh ? Activation::kGeluTanh : Activation::kGelu;
}

float open_clip_norm_eps(const Fields& tower) {
  constexpr double kUsualEps = 1e-5;
  const auto arguments = tower.object("norm_kwargs");
  const double eps = arguments ? arguments->number("eps").value_or(kUsualEps) : kUsualEps;
  return static_cast<float>(eps);
}

void read_hf_text_config(const Fields& file, const std::filesystem::path& folder, TextConfig& c) {
  const std::string type = file.text("model_type").value_or("");
  // Old files repeat the fields in a dict, which wins where it is there.
  const auto old = file.object("text_config_dict");
  const Fields text = old ? *old : file.object("text_config").value_or(file);
  c.tokenizer = TokenizerKind::kFiles;
  if (type.starts_with("clip"))
    set_clip(text, c);
  else if (type.starts_with("siglip"))
    set_siglip(text, folder, c);
  else
    fail_at(file.where(), "model_type '", type, "' has no text tower that this toolkit knows");
}

void read_open_clip_text_config(const Fields& file, TextConfig& c) {
  const auto model = file.object("model_cfg");
  const auto text = model ? model->object("text_cfg") : std::nullopt;
  if (!text) fail_at(file.where(), "has no model_cfg with a text_cfg");
  if (text->has("hf_model_name")) text->refuse("hf_model_name", "nothing: OpenCLIP's own tower");
  if (text->flag("embed_cls").value_or(false)) text->refuse("embed_cls", "false");
  set_heads(*text, "heads", 8, c.encoder);
  c.encoder.norm_eps = open_clip_norm_eps(*text);
  c.encoder.activation = open_clip_activation(*model, *text);
  c.causal = !text->flag("no_causal_mask").value_or(false);
  c.pooling = pooling_named(*text, text->text("pool_type").value_or("argmax"));
  c.end_token = static_cast<std::uint32_t>(text->size("eos_id").value_or(kClipEnd));
  set_open_clip_tokenizer(*text, c);
}

}  // namespace vit::weights
