/// The parts of a tokenizer.json, each under its "type". Unknown types and settings are an Error
/// naming the file and the type.
#pragma once

#include <string>
#include <vector>

#include "vit/text/tokenizer.h"
#include "weights/configs/json.h"

namespace vit::text {

using weights::Fields;

void read_normalizer(const Fields& step, std::vector<Normalizer>& normalizers);
void read_splitter(const Fields& step, std::vector<Splitter>& splitters);
TokenModel read_model(const Fields& model, size_t& pieces);

/// Calls `read` with every element of the array `name`, which must be objects with a "type".
template <typename Read>
void for_each_object(const Fields& parent, std::string_view name, Read read) {
  const auto* list = parent.find(name);
  if (list == nullptr || !list->is_array()) parent.refuse(name, "a list");
  for (size_t i = 0; i < list->size(); ++i) {
    if (!(*list)[i].is_object()) parent.refuse(name, "a list of objects");
    read(Fields((*list)[i], parent.where() + ": " + std::string(name) + " " + std::to_string(i)));
  }
}

[[noreturn]] void refuse_type(const Fields& step, std::string_view part, std::string_view known);

/// How a step of one "type" is read.
template <typename Step>
struct StepKind {
  std::string_view type;
  Step (*read)(const Fields& step);
};

/// Appends a step, or all of a "Sequence", whose list is called `list`. `part` is for errors.
template <typename Step, size_t kKinds>
void read_steps(const Fields& step, const StepKind<Step> (&kinds)[kKinds], std::string_view part,
                std::string_view list, std::vector<Step>& steps) {
  const std::string type = step.text("type").value_or("");
  if (type == "Sequence") {
    for_each_object(step, list,
                    [&](const Fields& inner) { read_steps(inner, kinds, part, list, steps); });
    return;
  }
  std::string known = "Sequence";
  for (const auto& kind : kinds) {
    if (kind.type == type) {
      steps.push_back(kind.read(step));
      return;
    }
    known += ", " + std::string(kind.type);
  }
  refuse_type(step, part, known);
}

/// {"String": "x"} or {"Regex": "x"}; throws where it is neither.
struct Pattern {
  std::u32string text;
  bool regular_expression = false;
};
Pattern read_pattern(const Fields& step);

}  // namespace vit::text
