/// Spherical k-means: groups of unit vectors by direction.
#pragma once

#include <cstdint>
#include <vector>

#include "vit/index/search.h"

namespace vit::index {

struct ClusterOptions {
  size_t clusters = 10;
  std::uint64_t seed = 0;
  size_t most_rounds = 100;
};

struct Cluster {
  std::vector<Hit> members{};  ///< the nearest to the centre first; scores are the cosines
  double similarity = 0.0;     ///< mean of the members' scores
};

struct Clustering {
  std::vector<Cluster> clusters;  ///< the largest first
  size_t rounds = 0;
  bool converged = false;  ///< no row would be better in another cluster
};

/// Lloyd's algorithm on cosines (Dhillon and Modha 2001), started by greedy k-means++ (Arthur and
/// Vassilvitskii 2007) with 1 - cosine as the squared distance. Where it stops, single rows are
/// moved as long as that makes the sum of all cosines larger (Dhillon, Guan and Kogan 2002): in
/// small clusters a row draws the centre towards itself, and Lloyd's algorithm stops too early. A
/// cluster that becomes empty gets the row that is farthest from its centre. The result depends on
/// the seed and not on the number of workers. Fewer clusters where there are fewer live rows.
Clustering cluster(const Vectors& vectors, const ClusterOptions& options,
                   const Execution& execution);

}  // namespace vit::index
