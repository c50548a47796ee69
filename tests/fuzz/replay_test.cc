// Runs the targets on the seeds and on earlier findings, without fuzzing, in every build.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "tests/fuzz/targets.h"
#include "tests/support/paths.h"

namespace vit::fuzz {
namespace {

namespace fs = std::filesystem;

/// Changes that break parsers: a bit, a length at its limits, a piece lost or repeated.
std::string mutated(std::string bytes, std::mt19937& random) {
  const auto below = [&](size_t n) { return n == 0 ? 0 : random() % n; };
  for (size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
    const size_t at = below(bytes.size()),
                 length = 1 + below(std::min<size_t>(8, bytes.size() - at));
    switch (below(5)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << below(8));
        break;
      case 1:
        bytes.replace(at, length, length, below(2) == 0 ? '\xff' : '\0');
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(below(bytes.size()), bytes.substr(at, length));
        break;
      default:
        bytes.resize(at);
        break;
    }
  }
  return bytes;
}

class Replay : public testing::TestWithParam<size_t> {
 protected:
  const Target& target() const { return targets()[GetParam()]; }
  void parse(const std::string& bytes) const { target().parse(std::as_bytes(std::span(bytes))); }
};

/// The inputs that once broke this parser.
std::vector<std::string> found_before(const Target& target) {
  std::vector<std::string> inputs;
  const fs::path folder = test::source_dir() / "tests/fuzz/corpus" / target.name;
  if (!fs::is_directory(folder)) return inputs;
  for (const auto& file : fs::directory_iterator(folder)) {
    std::ifstream stream(file.path(), std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return inputs;
}

TEST_P(Replay, SeedsFindingsAndTheirMutationsNeverCrash) {
  std::mt19937 random(1);
  std::vector<std::string> seeds = target().seeds();
  ASSERT_FALSE(seeds.empty());
  for (auto& input : found_before(target())) seeds.push_back(std::move(input));
  for (const auto& seed : seeds) {
    ASSERT_NO_THROW(parse(seed));
    for (int i = 0; i < 200; ++i) {
      const std::string bytes = mutated(seed, random);
      ASSERT_NO_THROW(parse(bytes)) << testing::PrintToString(bytes);
    }
  }
}

std::string name_of(const testing::TestParamInfo<size_t>& info) {
  return std::string(targets()[info.param].name);
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Replay, testing::Range(size_t{0}, targets().size()), name_of);

}  // namespace
}  // namespace vit::fuzz
