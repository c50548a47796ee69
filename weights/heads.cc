#include "weights/heads.h"

#include <set>

#include "vit/base/error.h"
#include "weights/architectures.h"

namespace vit::weights {
namespace {

std::string listed(const std::set<size_t>& numbers) {
  std::string text;
  for (const size_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

/// Head counts of the architectures of this width, and of this depth where it is not 0.
std::set<size_t> known_heads(size_t width, size_t depth) {
  std::set<size_t> heads;
  for (const auto& known : architectures()) {
    const ModelConfig config = config_of(known.name);
    if (config.width == width && (depth == 0 || config.depth == depth)) heads.insert(config.heads);
  }
  return heads;
}

}  // namespace

size_t usual_heads(const ModelConfig& config, const std::string& where) {
  const std::set<size_t> same_size = known_heads(config.width, config.depth);
  if (same_size.size() == 1) return *same_size.begin();
  const std::set<size_t> same_width = known_heads(config.width, 0);
  if (same_size.empty() && same_width.size() == 1) return *same_width.begin();
  if (!same_width.empty())
    fail(where, ": nothing says how many attention heads the model has; known models of width ",
         config.width, " have ", listed(same_size.empty() ? same_width : same_size),
         "; give the number (--heads N)");

  std::set<size_t> divisors;
  for (size_t heads = 1; heads <= 64 && heads <= config.width; ++heads)
    if (config.width % heads == 0) divisors.insert(heads);
  fail(where, ": nothing says how many attention heads the model has; its width ", config.width,
       " can be split into ", listed(divisors), "; give the number (--heads N)");
}

}  // namespace vit::weights
