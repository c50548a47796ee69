// What the VNNI files compile, with the contract of linear.inl.

#include "vit/kernels/int8_vnni.inl"

#include "vit/kernels/linear.inl"
