#include "weights/known/default_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/paths.h"
#include "vit/base/error.h"

namespace vit::weights {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Restores the environment variable at the end.
class DefaultModel : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* value = std::getenv("VIT_MODEL")) before_ = value;
  }
  void TearDown() override {
    if (before_.empty())
      unsetenv("VIT_MODEL");
    else
      setenv("VIT_MODEL", before_.c_str(), 1);
  }

 private:
  std::string before_;
};

TEST_F(DefaultModel, IsWhatTheEnvironmentSays) {
  setenv("VIT_MODEL", "some/model", 1);
  EXPECT_EQ(model_of_environment(), "some/model");
  unsetenv("VIT_MODEL");
  EXPECT_EQ(model_of_environment(), "");
}

TEST(BundledModel, IsLookedForBesideTheProgramThenInTheSources) {
  const auto places = default_model_places();
  ASSERT_GE(places.size(), 3u);
  const fs::path program = fs::read_symlink("/proc/self/exe");
  EXPECT_EQ(places[0], program.parent_path().parent_path() / "share/vit/default/model.safetensors");
  EXPECT_EQ(places[places.size() - 2],
            vit::test::source_dir() / "weights/default/model.safetensors");
  EXPECT_THAT(places.back().string(), testing::EndsWith("share/vit/default/model.safetensors"));
}

TEST(BundledModel, IsTheFirstThatExists) {
  for (const fs::path& place : default_model_places()) {
    if (!fs::exists(place)) continue;
    EXPECT_EQ(bundled_model(), place);
    return;
  }
  try {
    bundled_model();
    FAIL() << "found a model that is not there";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no model given, and the bundled one was not found"));
    EXPECT_THAT(error.what(), HasSubstr(default_model_places()[0].string()));
  }
}

}  // namespace
}  // namespace vit::weights
