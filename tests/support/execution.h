/// What most tests run on.
#pragma once

#include "vit/kernels/execution.h"

namespace vit::test {

/// The machine's best instructions, or those that VIT_ISA names.
inline Execution best_execution(ThreadPool* pool = nullptr) {
  return {pool, active_isa()};
}

}  // namespace vit::test
