/// How a computation runs. It changes the time a result takes and its rounding, never its meaning.
#pragma once

#include "vit/base/thread_pool.h"
#include "vit/kernels/cpu.h"

namespace vit {

/// Every caller says both: there are no defaults. A model's kernels all run on the instruction set
/// that its linear layers were packed for.
struct Execution {
  ThreadPool* pool;  ///< workers that share each kernel; null: the calling thread alone
  Isa isa;

  Execution(ThreadPool* workers, Isa instructions) : pool(workers), isa(instructions) {}
};

}  // namespace vit
