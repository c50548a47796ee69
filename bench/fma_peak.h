/// What this core can do: the yardstick of every kernel.
#pragma once

namespace vit::bench {

/// Floating point operations per second of independent fused multiply-adds in registers, measured
/// now on the calling thread with the widest instructions the machine has.
double fma_peak();

}  // namespace vit::bench
