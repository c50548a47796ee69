/// A fitted classifier as the last layer of a model.
#pragma once

#include "vit/gradient/network.h"
#include "vit/train/probe.h"
#include "weights/checkpoint.h"

namespace vit::train {

/// Puts the classifier into a network that has one of the same shape, both where a distilled one
/// has two.
void set_head(const Logistic& logistic, gradient::Network<float>& network);

/// Gives the checkpoint this head with the classifier. All other weights stay in the number format
/// of their file; those that the head does not have are removed.
void set_head(const Logistic& logistic, const HeadConfig& head, weights::Checkpoint& checkpoint);

}  // namespace vit::train
