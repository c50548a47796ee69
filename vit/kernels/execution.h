/// How a computation runs. It changes the time a result takes, never the result's meaning.
#pragma once

#include "vit/base/thread_pool.h"
#include "vit/kernels/cpu.h"

namespace vit {

struct Execution {
  ThreadPool* pool = nullptr;  ///< workers that share each kernel; null: the calling thread alone
  /// Instruction set of row-wise kernels and attention. A Linear keeps the one it was packed for.
  Isa isa = active_isa();
};

}  // namespace vit
