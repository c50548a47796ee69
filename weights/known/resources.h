/// Text files of this folder, compiled in so that an installed copy needs no data files.
#pragma once

#include <string_view>

namespace vit::weights::resources {

extern const std::string_view kAccuracy;           ///< accuracy.txt
extern const std::string_view kArchitectures;      ///< architectures.txt
extern const std::string_view kCheckpoints;        ///< checkpoints.txt
extern const std::string_view kHubModels;          ///< hub_models.txt
extern const std::string_view kImagenet1kLabels;   ///< imagenet1k_labels.txt
extern const std::string_view kImagenet1kWordnet;  ///< imagenet1k_wordnet.txt

}  // namespace vit::weights::resources
