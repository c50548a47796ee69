#include "tools/rows/run/counter.h"

#include <algorithm>
#include <filesystem>
#include <new>
#include <system_error>

namespace vit::tools {

bool can_be_read_twice(const std::string& operand) {
  std::error_code ignored;
  return operand != "-" && (!operand.starts_with('@') ||
                            std::filesystem::is_regular_file(operand.substr(1), ignored));
}

Counter::Counter(const RunSettings& settings, bool wanted) {
  if (!wanted || !settings.count_inputs ||
      !std::ranges::all_of(settings.inputs.operands, can_be_read_twice))
    return;
  try {
    thread_ = std::jthread([this, &settings] { count(settings); });
  } catch (const std::system_error&) {
  }
}

std::optional<std::uint64_t> Counter::total() const {
  if (!known_) return std::nullopt;
  return total_.load();
}

void Counter::count(const RunSettings& settings) {
  try {
    std::uint64_t count = 0;
    const TakeInput take = [&](const Input& input) {
      if (!settings.shard || is_ours(*settings.shard, input.path)) ++count;
      return true;
    };
    const bool complete = list_inputs(settings.inputs, stop_, take).complete;
    total_ = count;
    known_ = complete;
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace vit::tools
