/// What is done to a text before its tokenizer sees it, which differs between families of models.
#pragma once

#include <string>
#include <string_view>

#include "vit/base/text_config.h"

namespace vit::text {

std::u32string clean(std::u32string_view text, TextCleaning cleaning);

}  // namespace vit::text
