/// Which options of vit attention apply to which view. An option without effect is refused.
#pragma once

#include <cxxopts.hpp>
#include <string>

#include "tools/attention/settings.h"

namespace vit::tools {

struct ChosenView {
  View view = View::kRelevance;
  /// Neither an option nor the output decided: relevance, or attention for a model without it.
  bool by_default = false;
  std::string implied_by{};  ///< the option that implies it: "--layer"; empty: given or default
};

/// The view that options and output imply. Throws a UsageError if they contradict each other.
ChosenView choose_view(const cxxopts::ParseResult& arguments, FileKind kind);

/// Throws a UsageError for the first option given that would not change the result, with the reason
/// and where it applies.
void check_options(const cxxopts::ParseResult& arguments, FileKind kind, const ChosenView& chosen);

/// The same check for the default view of a model without class relevance: attention.
void check_default_options(const cxxopts::ParseResult& arguments);

}  // namespace vit::tools
