/// The toolkit in one include.
#pragma once

#include "patch/image/image.h"
#include "patch/recipe.h"
#include "vit/base/config.h"
#include "vit/base/error.h"
#include "vit/encoder/encoder.h"
#include "vit/encoder/mask.h"
#include "vit/interpret/attention_maps.h"
#include "vit/interpret/pattern.h"
#include "vit/interpret/query.h"
#include "vit/interpret/rollout.h"
#include "vit/interpret/statistics.h"
#include "vit/model/classifier.h"
#include "vit/model/features.h"
#include "vit/model/load.h"
#include "vit/model/model.h"
#include "weights/checkpoint.h"
