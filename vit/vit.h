/// The public interface of the library. Only this header, vit_c.h and what they include are
/// installed; all other headers are internal and may change.
#pragma once

#include "patch/image/image.h"
#include "vit/base/error.h"
#include "vit/base/missing_download.h"
#include "vit/base/recipe.h"
#include "vit/model/classifier.h"
#include "vit/model/runner.h"
#include "vit/version.h"
