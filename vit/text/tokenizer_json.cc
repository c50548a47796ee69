#include "vit/text/tokenizer_json.h"

#include "vit/base/error.h"
#include "vit/text/json_steps.h"
#include "vit/text/unicode.h"

namespace vit::text {
namespace {

using nlohmann::json;

AddedToken read_added(const Fields& token) {
  const auto id = token.size("id");
  const auto content = token.text("content");
  if (!id || !content || content->empty() || *id > 10'000'000)
    fail_at(token.where(), "an added token needs an id and a content");
  return {.content = decode_utf8(*content, token.where()),
          .id = static_cast<TokenId>(*id),
          .normalized = token.flag("normalized").value_or(false),
          .strips_left = token.flag("lstrip").value_or(false),
          .strips_right = token.flag("rstrip").value_or(false),
          .whole_word = token.flag("single_word").value_or(false)};
}

/// Tokens that are looked for in normalised text are normalised themselves.
void read_added_tokens(const Fields& file, Tokenizer& tokenizer) {
  if (!file.has("added_tokens")) return;
  for_each_object(file, "added_tokens", [&](const Fields& fields) {
    AddedToken token = read_added(fields);
    if (token.normalized)
      for (const auto& normalizer : tokenizer.normalizers)
        token.content = normalizer(token.content);
    tokenizer.size = std::max(tokenizer.size, size_t{token.id} + 1);
    tokenizer.added.push_back(std::move(token));
  });
}

/// ["<|endoftext|>", 49407]
TokenId read_marked(const Fields& step, std::string_view name) {
  const json* pair = step.find(name);
  if (pair == nullptr || !pair->is_array() || pair->size() != 2 || !(*pair)[1].is_number_unsigned())
    step.refuse(name, "a token and its id");
  return (*pair)[1].get<TokenId>();
}

std::vector<TokenId> special_ids(const Fields& step, const std::string& name) {
  const auto tokens = step.object("special_tokens");
  const auto token = tokens ? tokens->object(name) : std::nullopt;
  const json* ids = token ? token->find("ids") : nullptr;
  if (ids == nullptr || !ids->is_array())
    step.refuse("special_tokens", "the ids of '" + name + "'");
  std::vector<TokenId> result;
  for (const json& id : *ids) {
    if (!id.is_number_unsigned()) step.refuse("special_tokens", "the ids of '" + name + "'");
    result.push_back(id.get<TokenId>());
  }
  return result;
}

/// {"single": [{"SpecialToken": …}, {"Sequence": …}, {"SpecialToken": …}], …}
void read_template(const Fields& step, Tokenizer& tokenizer) {
  bool text_seen = false;
  for_each_object(step, "single", [&](const Fields& item) {
    if (item.has("Sequence")) {
      text_seen = true;
      return;
    }
    const auto special = item.object("SpecialToken");
    const auto name = special ? special->text("id") : std::nullopt;
    if (!name) fail_at(item.where(), "is neither a Sequence nor a SpecialToken");
    auto& frame = text_seen ? tokenizer.after : tokenizer.before;
    for (const TokenId id : special_ids(step, *name)) frame.push_back(id);
  });
}

void read_post_processor(const Fields& step, Tokenizer& tokenizer) {
  const std::string type = step.text("type").value_or("");
  if (type == "Sequence") {
    for_each_object(step, "processors",
                    [&](const Fields& part) { read_post_processor(part, tokenizer); });
  } else if (type == "TemplateProcessing") {
    read_template(step, tokenizer);
  } else if (type == "RobertaProcessing" || type == "BertProcessing") {
    tokenizer.before = {read_marked(step, "cls")};
    tokenizer.after = {read_marked(step, "sep")};
  } else if (type != "ByteLevel") {  // which changes offsets alone
    refuse_type(step, "post_processor",
                "Sequence, TemplateProcessing, RobertaProcessing, BertProcessing, ByteLevel");
  }
}

}  // namespace

Tokenizer parse_tokenizer_json(const json& content, const std::string& where) {
  const Fields file(content, where);
  const auto model = file.object("model");
  if (!model) fail_at(where, "has no model");
  size_t pieces = 0;
  Tokenizer tokenizer{.model = read_model(*model, pieces)};
  tokenizer.size = pieces;
  if (const auto step = file.object("normalizer")) read_normalizer(*step, tokenizer.normalizers);
  if (const auto step = file.object("pre_tokenizer")) read_splitter(*step, tokenizer.splitters);
  if (const auto step = file.object("post_processor")) read_post_processor(*step, tokenizer);
  read_added_tokens(file, tokenizer);
  return tokenizer;
}

Tokenizer read_tokenizer_json(const std::filesystem::path& path) {
  return parse_tokenizer_json(weights::read_json(path, kTokenizerLimits), path.string());
}

}  // namespace vit::text
