/// The place of this process among those that a scheduler has started, from its variables.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace vit::tools {

using std::size_t;

/// Null where the variable is not set.
using Environment = std::function<const char*(const char* name)>;

struct ScheduledPlace {
  size_t index = 0;    ///< from 0
  size_t count = 0;    ///< 0: the scheduler does not say
  std::string source;  ///< the variables, for messages
};

/// Tasks of a job (MPI, srun) and jobs of an array multiply: each of 4 array jobs with 2 tasks has
/// one of 8 places. None: started alone. Throws a UsageError where the variables contradict.
std::optional<ScheduledPlace> scheduled_place(const Environment& environment);

/// "SLURM_PROCID, OMPI_COMM_WORLD_RANK, …": the variables that are looked at.
std::string scheduler_variables();

}  // namespace vit::tools
