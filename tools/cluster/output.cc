#include "tools/cluster/output.h"

#include <algorithm>

#include "tools/indexed/report.h"
#include "tools/output/format.h"

namespace vit::tools {
namespace {

std::string title_of(const index::Cluster& cluster) {
  return count_of(cluster.members.size(), "image", "images") + ", mean similarity " +
         formatted("%.4f", cluster.similarity);
}

}  // namespace

std::string cluster_summary(const index::Clustering& result) {
  size_t images = 0;
  double similarity = 0.0;
  for (const auto& cluster : result.clusters) {
    images += cluster.members.size();
    similarity += cluster.similarity * static_cast<double>(cluster.members.size());
  }
  std::string text = count_of(images, "image", "images") + " in " +
                     count_of(result.clusters.size(), "cluster", "clusters");
  if (images == 0) return text;
  text += ", mean similarity " + formatted("%.4f", similarity / static_cast<double>(images)) +
          ", " + count_of(result.rounds, "round", "rounds");
  return result.converged ? text : text + ", not converged";
}

std::string cluster_text(const ClusterReport& report) {
  std::string text;
  for (size_t c = 0; c < report.result.clusters.size(); ++c) {
    const auto& cluster = report.result.clusters[c];
    text += (c == 0 ? "" : "\n") + std::string("cluster ") + std::to_string(c + 1) + ": " +
            title_of(cluster) + "\n";
    const size_t shown = std::min(report.pictures, cluster.members.size());
    for (size_t i = 0; i < shown; ++i)
      text +=
          found_line(report.index.entries[cluster.members[i].row], cluster.members[i].score) + "\n";
    if (shown < cluster.members.size())
      text += "          and " + format_count(cluster.members.size() - shown) + " more\n";
  }
  return text;
}

std::string cluster_csv(const ClusterReport& report) {
  std::string text = "cluster,rank,score," + std::string(kEntryColumns) + "\n";
  for (size_t c = 0; c < report.result.clusters.size(); ++c) {
    const auto& members = report.result.clusters[c].members;
    for (size_t i = 0; i < members.size(); ++i)
      text += std::to_string(c + 1) + "," +
              found_csv(i + 1, report.index.entries[members[i].row], members[i].score) + "\n";
  }
  return text;
}

Json cluster_json(const ClusterReport& report) {
  Json all;
  all["index"] = report.path.string();
  all["seed"] = report.seed;
  all["rounds"] = report.result.rounds;
  all["converged"] = report.result.converged;
  all["clusters"] = Json::array();
  for (const auto& cluster : report.result.clusters) {
    Json one;
    one["similarity"] = static_cast<float>(cluster.similarity);
    one["images"] = Json::array();
    for (const auto& hit : cluster.members)
      one["images"].push_back(found_json(report.index.entries[hit.row], "score", hit.score));
    all["clusters"].push_back(std::move(one));
  }
  return all;
}

ContactSheet cluster_sheet(const ClusterReport& report) {
  ContactSheet sheet;
  sheet.title = "Clusters of " + report.path.filename().string();
  sheet.note = cluster_summary(report.result) + ", seed " + std::to_string(report.seed) +
               ". The number is the cosine similarity with the centre of the cluster; the images "
               "nearest to it come first.";
  for (size_t c = 0; c < report.result.clusters.size(); ++c) {
    const auto& cluster = report.result.clusters[c];
    SheetGroup group;
    group.title = "Cluster " + std::to_string(c + 1);
    group.note = title_of(cluster);
    const size_t shown = std::min(report.pictures, cluster.members.size());
    if (shown < cluster.members.size())
      group.note += ", the nearest " + std::to_string(shown) + " are shown";
    for (size_t i = 0; i < shown; ++i)
      group.pictures.push_back(
          sheet_picture(report.index.entries[cluster.members[i].row], cluster.members[i].score));
    sheet.groups.push_back(std::move(group));
  }
  return sheet;
}

}  // namespace vit::tools
