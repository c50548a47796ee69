#include "tools/cli/pull_advice.h"

#include "vit/base/missing_download.h"

namespace vit::tools {
namespace {

std::string advice_for(const Download& wanted) {
  using enum Download::Kind;
  switch (wanted.kind) {
    case kKnownModel:
      return ": vit pull " + wanted.name;
    case kHubModel:
      return "; if the hub has it: vit pull " + wanted.name +
             (wanted.revision.empty() ? "" : " (revision " + wanted.revision + ")");
    case kClipVocabulary:
      break;
  }
  return ", which vit pull fetches";
}

}  // namespace

std::string message_of(const std::exception& error) {
  const auto* missing = dynamic_cast<const MissingDownload*>(&error);
  return missing == nullptr ? error.what() : missing->with_advice(advice_for(missing->wanted()));
}

}  // namespace vit::tools
