/// Counts what the C library hands out. It replaces malloc, so a test that links it stands in a
/// program of its own.
#pragma once

#include <cstddef>

namespace vit::test {

/// Sanitizers have allocators of their own, which cannot be counted.
bool counts_allocations();

/// Since the program started; 0 where they cannot be counted.
size_t allocations();

}  // namespace vit::test
