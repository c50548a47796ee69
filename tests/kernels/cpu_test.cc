#include "vit/kernels/cpu.h"

#include <gtest/gtest.h>

#include "vit/base/error.h"
#include "vit/kernels/isa_kernels.h"

namespace vit {
namespace {

TEST(Cpu, TakesTheBestInstructionSetUnlessToldOtherwise) {
  EXPECT_EQ(choose_isa(nullptr), available_isas().back());
  EXPECT_EQ(choose_isa(""), available_isas().back());
}

TEST(Cpu, TakesTheForcedInstructionSet) {
  for (const Isa isa : available_isas())
    EXPECT_EQ(choose_isa(std::string(to_string(isa)).c_str()), isa);
}

TEST(Cpu, NamesTheChoicesWhenTheForcedOneIsUnknown) {
  try {
    choose_isa("sse9");
    FAIL() << "accepted sse9";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "VIT_ISA=sse9: expected baseline, avx, avx2 or avx512");
  }
}

TEST(Cpu, RefusesAnInstructionSetThatTheMachineLacks) {
  if (available_isas().back() == Isa::kAvx512) GTEST_SKIP() << "this machine has them all";
  EXPECT_THROW(choose_isa("avx512"), Error);
}

TEST(Cpu, ASecondLevelCacheHasAPlausibleSize) {
  EXPECT_GE(second_level_cache(), 256u * 1024);
  EXPECT_LE(second_level_cache(), 256u * 1024 * 1024);
}

TEST(Cpu, EveryTableAnswersForItsOwnInstructionSet) {
  for (const Isa isa : available_isas()) EXPECT_EQ(isa_kernels(isa).isa, isa);
}

}  // namespace
}  // namespace vit
