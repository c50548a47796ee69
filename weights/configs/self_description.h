/// What a file written by weights/save.h says about itself, in its safetensors metadata.
///
///   vit.format       "1"; a file of another number is refused
///   vit.config       every field of ModelConfig, one JSON object
///   vit.recipe       every field of Recipe, one JSON object
///   vit.labels       a JSON list, one name per class or none
///   vit.wordnet_ids  a JSON list, the WordNet id of each class; absent: not known
///   vit.assumptions  a JSON list of what the original did not state, absent: nothing
///
/// Within one format number the fields are fixed: a missing or an unknown one is an error, because
/// a model that runs with a guessed field gives wrong answers in silence.
#pragma once

#include <string>

#include "weights/formats/tensor_file.h"
#include "weights/model_card.h"

namespace vit::weights {

/// After the name of a tensor that is stored in 8 bits: its scales.
inline constexpr std::string_view kScaleSuffix = "_scale";

/// The entries above. Equal cards give equal texts, and reading gives every field back exactly.
Metadata self_description(const ModelCard& card);

/// Is there any of our entries?
bool describes_itself(const Metadata& metadata);

/// Throws an Error that names the entry and the field; `where` opens it.
ModelCard read_self_description(const Metadata& metadata, const std::string& where);

/// The entries that are not ours.
Metadata other_entries(const Metadata& metadata);

}  // namespace vit::weights
