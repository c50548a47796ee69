/// The model that comes with the toolkit, as a user meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/paths.h"
#include "tests/tools/subprocess.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

const fs::path kFolder = test::source_dir() / "weights" / "default";
const fs::path kTinyImagenet = test::shared() / "data" / "tiny-imagenet.tar.xz";

/// No $VIT_MODEL of the machine's.
Finished run_without_model(std::vector<std::string> arguments) {
  Call call;
  call.arguments = std::move(arguments);
  call.environment = {"VIT_MODEL="};
  return run(call);
}

TEST(BundledModel, AnswersWhereNoModelIsNamed) {
  const Finished got = run_without_model(
      {"classify", "--json", "-k", "200", (kFolder / "pictures" / "school_bus.png").string()});
  ASSERT_EQ(got.status, 0) << got.err;
  const json predictions = json::parse(got.out)["images"][0]["predictions"];
  ASSERT_EQ(predictions.size(), 200u);
  double sum = 0.0;
  for (const json& prediction : predictions) sum += prediction["probability"].get<double>();
  EXPECT_NEAR(sum, 1.0, 1e-6);
  EXPECT_EQ(predictions[0]["label"], "school bus");
}

TEST(BundledModel, IsSmall) {
  EXPECT_LE(fs::file_size(kFolder / "model.safetensors"), 12u << 20);
}

TEST(BundledModel, ListsItsClassesWithTheirWordnetIds) {
  const Finished got = run_without_model({"info", "--labels"});
  ASSERT_EQ(got.status, 0) << got.err;
  EXPECT_THAT(got.out, testing::StartsWith("0\tn01443537\tgoldfish\n"));
  EXPECT_THAT(got.out, HasSubstr("\tn04146614\tschool bus\n"));
  EXPECT_EQ(std::ranges::count(got.out, '\n'), 200);
}

/// The validation images of Tiny-ImageNet, in folders named by WordNet id.
TEST(BundledModel, IsAsGoodAsItsReadmeSays) {
  if (!fs::exists(kTinyImagenet)) GTEST_SKIP() << "needs ../shared/data";
  const Folder folder;
  Call unpack;
  unpack.program = "tar";
  unpack.arguments = {"-xf", kTinyImagenet.string(), "-C", folder.path(), "val"};
  ASSERT_EQ(run(unpack).status, 0);
  const Finished got = run_without_model({"eval", "--json", folder.path("val")});
  ASSERT_EQ(got.status, 0) << got.err;
  const json report = json::parse(got.out);
  EXPECT_EQ(report["images"], 10000);
  const std::string readme = read_file(kFolder / "README.md");
  const auto percent = [&](const char* name) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f %%", 100.0 * report[name].get<double>());
    return std::string(text);
  };
  EXPECT_THAT(readme, HasSubstr("top-1 " + percent("top1")));
  EXPECT_THAT(readme, HasSubstr("top-5 " + percent("top5")));
  EXPECT_THAT(readme, HasSubstr("calibration error " + percent("calibration_error")));
}

}  // namespace
}  // namespace vit::tools
