/// The model that comes with the toolkit, as a user meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/paths.h"
#include "tests/tools/subprocess.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

const fs::path kBox = test::source_dir() / "weights" / "default";
const fs::path kCifar = test::shared() / "data" / "cifar10-images.tar.gz";

/// No $VIT_MODEL of the machine's.
Finished run_in_the_box(std::vector<std::string> arguments) {
  Call call;
  call.arguments = std::move(arguments);
  call.environment = {"VIT_MODEL="};
  return run(call);
}

TEST(ModelInTheBox, AnswersWhereNoModelIsNamed) {
  const Finished got = run_in_the_box(
      {"classify", "--json", "-k", "10", (kBox / "pictures" / "ship_1.png").string()});
  ASSERT_EQ(got.status, 0) << got.err;
  const json predictions = json::parse(got.out)["images"][0]["predictions"];
  ASSERT_EQ(predictions.size(), 10u);
  double sum = 0.0;
  for (const json& prediction : predictions) sum += prediction["probability"].get<double>();
  EXPECT_NEAR(sum, 1.0, 1e-6);
  EXPECT_EQ(predictions[0]["label"], "ship");
}

TEST(ModelInTheBox, IsSmall) {
  EXPECT_LE(fs::file_size(kBox / "model.safetensors"), 6u << 20);
}

TEST(ModelInTheBox, IsAsGoodAsItsReadmeSays) {
  if (!fs::exists(kCifar)) GTEST_SKIP() << "needs ../shared/data";
  const Folder folder;
  Call unpack;
  unpack.program = "tar";
  unpack.arguments = {"-xzf", kCifar.string(), "-C", folder.path(), "--wildcards", "*test/*"};
  ASSERT_EQ(run(unpack).status, 0);
  const Finished got = run_in_the_box({"eval", "--json", folder.path("test")});
  ASSERT_EQ(got.status, 0) << got.err;
  const json report = json::parse(got.out);
  EXPECT_EQ(report["images"], 10000);
  char said[64];
  std::snprintf(said, sizeof said, "%.2f %% of the 10,000 test images",
                100.0 * report["top1"].get<double>());
  EXPECT_THAT(read_file(kBox / "README.md"), HasSubstr(said));
}

}  // namespace
}  // namespace vit::tools
