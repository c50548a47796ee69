#include "tools/rows/schedulers.h"

#include <array>
#include <span>
#include <string_view>

#include "tools/cli/usage_error.h"
#include "vit/base/text.h"

namespace vit::tools {
namespace {

constexpr size_t kMostJobs = 1'000'000'000;  // products cannot overflow

struct Scheduler {
  const char* index;
  const char* count = nullptr;  ///< null: not set by it
  const char* first = nullptr;  ///< index of the first one; null: `base`
  const char* last = nullptr;
  const char* step = nullptr;  ///< between two indices; null: 1
  size_t base = 0;
  std::string_view alone{};  ///< the index of a job that is not part of an array
};

/// Processes of one job. MPI comes first: its launcher may have been started by srun. In the script
/// of sbatch SLURM_PROCID and SLURM_NTASKS are set as well, but only srun sets the number of the
/// step's tasks.
constexpr std::array<Scheduler, 3> kTasks{{
    {.index = "OMPI_COMM_WORLD_RANK", .count = "OMPI_COMM_WORLD_SIZE"},
    {.index = "PMI_RANK", .count = "PMI_SIZE"},
    {.index = "SLURM_PROCID", .count = "SLURM_STEP_NUM_TASKS"},
}};

constexpr std::array<Scheduler, 9> kArrays{{
    {.index = "SLURM_ARRAY_TASK_ID",
     .count = "SLURM_ARRAY_TASK_COUNT",
     .first = "SLURM_ARRAY_TASK_MIN",
     .last = "SLURM_ARRAY_TASK_MAX",
     .step = "SLURM_ARRAY_TASK_STEP"},
    {.index = "SGE_TASK_ID",
     .first = "SGE_TASK_FIRST",
     .last = "SGE_TASK_LAST",
     .step = "SGE_TASK_STEPSIZE",
     .base = 1,
     .alone = "undefined"},
    {.index = "LSB_JOBINDEX",
     .last = "LSB_JOBINDEX_END",
     .step = "LSB_JOBINDEX_STEP",
     .base = 1,
     .alone = "0"},
    {.index = "PBS_ARRAY_INDEX"},
    {.index = "PBS_ARRAYID"},
    {.index = "AWS_BATCH_JOB_ARRAY_INDEX", .count = "AWS_BATCH_JOB_ARRAY_SIZE"},
    {.index = "CLOUD_RUN_TASK_INDEX", .count = "CLOUD_RUN_TASK_COUNT"},
    {.index = "BATCH_TASK_INDEX", .count = "BATCH_TASK_COUNT"},
    {.index = "JOB_COMPLETION_INDEX"},
}};

std::optional<size_t> number_in(const Environment& environment, const char* name) {
  const char* value = name == nullptr ? nullptr : environment(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  const auto number = to_number<size_t>(value);
  if (!number || *number > kMostJobs)
    fail_usage("the variable ", name, " is '", value, "', expected a number");
  return number;
}

[[noreturn]] void refuse_uneven(const Scheduler& scheduler, size_t index) {
  fail_usage(
      "the variable ", scheduler.index, " is ", index,
      ", but the indices of this array are not evenly spaced, so they do not say which part ",
      "this is; give --shard I/N, counted from 0");
}

std::optional<ScheduledPlace> place_in(const Scheduler& scheduler, const Environment& environment) {
  const char* value = environment(scheduler.index);
  if (value == nullptr || *value == '\0' || value == scheduler.alone) return std::nullopt;
  const size_t index = *number_in(environment, scheduler.index);
  const size_t first = number_in(environment, scheduler.first).value_or(scheduler.base);
  const size_t step = number_in(environment, scheduler.step).value_or(1);
  const auto last = number_in(environment, scheduler.last);
  auto count = number_in(environment, scheduler.count);
  if (index < first || step == 0 || (index - first) % step != 0) refuse_uneven(scheduler, index);
  if (last) {
    if (*last < index) refuse_uneven(scheduler, index);
    const size_t spaced = (*last - first) / step + 1;
    if (count && *count != spaced) refuse_uneven(scheduler, index);
    count = spaced;
  }
  if (count == 1 && index > 1)
    fail_usage("the variable ", scheduler.index, " is ", index,
               ", and this array has no other index; give --shard I/N if this is a part of an ",
               "earlier array, or --shards 1 to take everything");
  if (count && (index - first) / step >= *count)
    fail_usage("the variable ", scheduler.index, " is ", index, ", but there are ", *count,
               " parts");
  return ScheduledPlace{(index - first) / step, count.value_or(0), scheduler.index};
}

/// The first with several processes. Those that have a variable for the number must set it if
/// `counted`: the index alone may be left over from something else.
std::optional<ScheduledPlace> find_place(std::span<const Scheduler> schedulers,
                                         const Environment& environment, bool counted) {
  for (const Scheduler& scheduler : schedulers) {
    const auto place = place_in(scheduler, environment);
    if (place && place->count != 1 && (place->count != 0 || !counted)) return place;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ScheduledPlace> scheduled_place(const Environment& environment) {
  const auto task = find_place(kTasks, environment, true);
  const auto job = find_place(kArrays, environment, false);
  if (!task || !job) return task ? task : job;
  return ScheduledPlace{job->index * task->count + task->index, job->count * task->count,
                        job->source + " and " + task->source};
}

std::string scheduler_variables() {
  std::string names;
  for (const std::span<const Scheduler> table :
       {std::span<const Scheduler>(kTasks), std::span<const Scheduler>(kArrays)})
    for (const Scheduler& scheduler : table)
      names += (names.empty() ? "" : ", ") + std::string(scheduler.index);
  return names;
}

}  // namespace vit::tools
