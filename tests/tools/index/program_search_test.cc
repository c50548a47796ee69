/// `vit search`: planted images are found, and mistakes are reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/tools/index/index_call.h"
#include "tools/draw/canvas.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

/// in/0.png … in/7.png, and an exact copy, a resized and a recompressed one of in/3.png.
class SearchProgram : public testing::Test {
 protected:
  SearchProgram() {
    write_planted(folder_, 8);
    const patch::Image third = planted_image(96, 64, 3);
    fs::copy_file(folder_.path("in/3.png"), folder_.path("in/copy.png"));
    write_image(scaled(third, 60, 40), folder_.path("in/resized.png"));
    write_image(third, folder_.path("in/recompressed.jpg"));
    const Finished finished = index_images({folder_.path("in"), "-q", "-o", index_});
    EXPECT_EQ(finished.status, 0) << finished.err;
  }

  json found(std::vector<std::string> more) {
    more.insert(more.end(), {"--json"});
    const Finished finished = search_index(index_, more);
    EXPECT_EQ(finished.status, 0) << finished.err;
    return json::parse(finished.out)["queries"];
  }

  Folder folder_;
  std::string index_ = folder_.path("photos.index");
};

std::string name_of(const json& result) {
  return fs::path(result["path"].get<std::string>()).filename().string();
}

TEST_F(SearchProgram, FindsCopiesBeforeUnrelatedImages) {
  const json queries = found({"--image", folder_.path("in/3.png"), "-k", "4"});
  ASSERT_EQ(queries.size(), 1u);
  std::vector<std::string> names;
  for (const auto& result : queries[0]["results"]) names.push_back(name_of(result));
  EXPECT_THAT(
      names, testing::UnorderedElementsAre("3.png", "copy.png", "resized.png", "recompressed.jpg"));
  EXPECT_NEAR(queries[0]["results"][0]["score"].get<double>(), 1.0, 1e-5);
}

TEST_F(SearchProgram, AddsAndSubtractsImages) {
  const auto image = [&](int i) {
    return "image:" + folder_.path("in/" + std::to_string(i) + ".png");
  };
  const json same = found({image(1), "+", image(2), "-", image(2), "-k", "1"});
  EXPECT_EQ(name_of(same[0]["results"][0]), "1.png");
  const json two = found({image(1), image(2), "-k", "1"});
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(name_of(two[1]["results"][0]), "2.png");
  const Finished nothing = search_index(index_, {image(1), "-", image(1)});
  EXPECT_EQ(nothing.status, 1);
  EXPECT_THAT(nothing.err, HasSubstr("its terms cancel out"));
}

TEST_F(SearchProgram, TakesFileNamesWithCommas) {
  fs::copy_file(folder_.path("in/3.png"), folder_.path("three, or more.png"));
  const json queries = found({"--image", folder_.path("three, or more.png"), "--image",
                              folder_.path("in/2.png"), "-k", "1"});
  ASSERT_EQ(queries.size(), 2u);
  EXPECT_NEAR(queries[0]["results"][0]["score"].get<double>(), 1.0, 1e-5);
  EXPECT_EQ(name_of(queries[1]["results"][0]), "2.png");
}

TEST_F(SearchProgram, WritesTablesAndAPageWithoutOutsideParts) {
  const std::string image = folder_.path("in/3.png");
  for (const auto* name : {"a.csv", "a.json", "a.html"})
    ASSERT_EQ(search_index(index_, {"--image", image, "-o", folder_.path(name)}).status, 0);
  EXPECT_THAT(read_file(folder_.path("a.csv")),
              testing::StartsWith("query,rank,score,path,width,height,bytes\n"));
  const std::string page = read_file(folder_.path("a.html"));
  EXPECT_THAT(page, HasSubstr("src=\"data:image/png;base64,"));
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_THAT(page, Not(HasSubstr("src=\"/")));
}

TEST_F(SearchProgram, SaysOnThePageWhichFilesAreMissing) {
  fs::remove(folder_.path("in/copy.png"));
  const Finished finished =
      search_index(index_, {"--image", folder_.path("in/3.png"), "-o", folder_.path("a.html")});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(read_file(folder_.path("a.html")),
              HasSubstr("<div class=\"none\">no such file</div>"));
}

TEST_F(SearchProgram, RefusesTextsWithoutATextTower) {
  const Finished finished = search_index(index_, {"two dogs in the snow"});
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, HasSubstr("cannot be compared with texts; search with --image"));
}

TEST_F(SearchProgram, RefusesAnotherModel) {
  const Finished finished =
      search_index(index_, {"-m", golden("timm_vit"), "--image", folder_.path("in/3.png")});
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, HasSubstr("search with the model and the options of the index"));
}

TEST_F(SearchProgram, RefusesADamagedIndex) {
  std::string bytes = read_file(index_);
  bytes[20] = static_cast<char>(bytes[20] ^ 1);
  std::ofstream(index_, std::ios::binary) << bytes;
  const Finished finished = search_index(index_, {"--image", folder_.path("in/3.png")});
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, HasSubstr("photos.index: "));
  EXPECT_EQ(search_index(folder_.path("in/3.png"), {"--image", folder_.path("in/3.png")}).status,
            1);
  EXPECT_EQ(search_index(folder_.path("none.index"), {"--image", "a.jpg"}).status, 1);
}

TEST_F(SearchProgram, RefusesWrongUsage) {
  EXPECT_EQ(search_index(index_, {}).status, 2);
  EXPECT_THAT(search_index(index_, {}).err, HasSubstr("nothing to search for"));
  EXPECT_EQ(search_index(index_, {"a", "+"}).status, 2);
  EXPECT_EQ(search_index(index_, {"-", "a"}).status, 2);
  EXPECT_EQ(search_index(index_, {"image:"}).status, 2);
  EXPECT_EQ(search_index(index_, {"a", "-o", folder_.path("a.txt")}).status, 2);
}

}  // namespace
}  // namespace vit::tools
