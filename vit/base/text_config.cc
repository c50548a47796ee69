#include "vit/base/text_config.h"

#include "vit/base/error.h"

namespace vit {

void validate(const TextConfig& config, std::string_view where) {
  const EncoderConfig& c = config.encoder;
  const auto positive = [&](const char* name, size_t value) {
    if (value == 0) fail_at(where, "the text tower's ", name, " is 0");
  };
  positive("width", c.width);
  positive("number of layers", c.depth);
  positive("number of heads", c.heads);
  positive("vocabulary", config.vocabulary);
  positive("feature length", config.features);
  if (c.width % c.heads != 0)
    fail_at(where, "the text tower's width ", c.width, " cannot be split into ", c.heads, " heads");
  constexpr size_t kFewestPositions = 3;  // start, one token, end
  if (config.context < kFewestPositions)
    fail_at(where, "the text tower has ", config.context, " positions, expected at least ",
            kFewestPositions);
  if (config.context > kMostTokens)
    fail_at(where, "the text tower has ", config.context, " positions, at most ", kMostTokens);
}

}  // namespace vit
