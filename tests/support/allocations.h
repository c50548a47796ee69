/// Counts the allocations of the C library. It replaces malloc, so tests that use it are programs
/// of their own.
#pragma once

#include <cstddef>

namespace vit::test {

/// Sanitizers have allocators of their own, which cannot be counted.
bool counts_allocations();

/// Since the program started; 0 where they cannot be counted.
size_t allocations();

}  // namespace vit::test
