// The kernels of linear layers alone, with the contract of kernels.inl. The VNNI files of
// isa/ include this file, because only their 8-bit products differ.

static_assert(kLanes == 4 || kLanes == 8 || kLanes == 16);
static_assert(kWholeTiles % kTileRows == 0, "workers share rows in whole tiles (owners.h)");
static_assert(kWholeTiles % kInt8Rows == 0, "workers share rows in whole tiles (owners.h)");
static_assert(kInt8Panels * kInt8Panel % kLanes == 0, "sums become whole vectors");

#include "vit/kernels/vector.inl"

#include "vit/kernels/tile.inl"

#include "vit/kernels/int8.inl"
