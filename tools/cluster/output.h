/// Clusters as text, CSV, JSON and a contact sheet.
#pragma once

#include <filesystem>
#include <string>

#include "tools/draw/contact_sheet.h"
#include "tools/output/json.h"
#include "vit/index/cluster.h"
#include "vit/index/file.h"

namespace vit::tools {

struct ClusterReport {
  const std::filesystem::path& path;  ///< of the index
  const index::Index& index;
  const index::Clustering& result;
  std::uint64_t seed = 0;
  size_t pictures = 0;  ///< of each cluster, in text and on the page
};

/// "100 images in 10 clusters, mean similarity 0.53, 7 rounds"
std::string cluster_summary(const index::Clustering& result);

std::string cluster_text(const ClusterReport& report);
std::string cluster_csv(const ClusterReport& report);  ///< all images
Json cluster_json(const ClusterReport& report);        ///< all images
ContactSheet cluster_sheet(const ClusterReport& report);

}  // namespace vit::tools
