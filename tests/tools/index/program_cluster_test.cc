/// `vit cluster`: planted kinds of images end up together, and the seed decides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/tools/index/index_call.h"
#include "tools/draw/canvas.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

constexpr int kScenes = 4, kViews = 5;

/// Four scenes in five views each, as in/SCENE-VIEW.png.
class ClusterProgram : public testing::Test {
 protected:
  ClusterProgram() {
    for (int scene = 0; scene < kScenes; ++scene) {
      const patch::Image image = planted_image(96, 64, static_cast<unsigned>(scene));
      for (int view = 0; view < kViews; ++view)
        write_image(
            cropped(image, 1.0 - 0.02 * view),
            folder_.path("in/" + std::to_string(scene) + "-" + std::to_string(view) + ".png"));
    }
    const Finished finished = index_images({folder_.path("in"), "-q", "-o", index_});
    EXPECT_EQ(finished.status, 0) << finished.err;
  }

  Finished cluster(std::vector<std::string> more) {
    more.insert(more.begin(), {"cluster", index_});
    return run(more);
  }

  Folder folder_;
  std::string index_ = folder_.path("photos.index");
};

TEST_F(ClusterProgram, PutsTheViewsOfASceneTogether) {
  const Finished finished = cluster({"-k", "4", "--json"});
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("photos.index: 20 images in 4 clusters, mean similarity"));
  const json result = json::parse(finished.out);
  EXPECT_EQ(result["converged"], true);
  ASSERT_EQ(result["clusters"].size(), 4u);
  for (const auto& one : result["clusters"]) {
    std::set<char> scenes;
    double before = 1.0;
    for (const auto& image : one["images"]) {
      scenes.insert(fs::path(image["path"].get<std::string>()).filename().string().front());
      EXPECT_LE(image["score"].get<double>(), before);
      before = image["score"].get<double>();
    }
    EXPECT_EQ(one["images"].size(), size_t{kViews});
    EXPECT_EQ(scenes.size(), 1u);
  }
}

TEST_F(ClusterProgram, GivesTheSameForASeedAndAnyNumberOfThreads) {
  const std::string alone = cluster({"-k", "7", "--seed", "5", "--json", "--threads", "1"}).out;
  EXPECT_EQ(cluster({"-k", "7", "--seed", "5", "--json", "--threads", "3"}).out, alone);
  EXPECT_NE(cluster({"-k", "7", "--seed", "6", "--json"}).out, alone);
}

TEST_F(ClusterProgram, WritesEveryForm) {
  for (const auto* name : {"a.csv", "a.json", "a.html"})
    ASSERT_EQ(cluster({"-k", "4", "--pictures", "2", "-o", folder_.path(name)}).status, 0);
  const std::string table = read_file(folder_.path("a.csv"));
  EXPECT_THAT(table, testing::StartsWith("cluster,rank,score,path,width,height,bytes\n1,1,"));
  EXPECT_EQ(std::ranges::count(table, '\n'), 1 + kScenes * kViews);
  EXPECT_EQ(json::parse(read_file(folder_.path("a.json")))["clusters"].size(), 4u);
  const std::string page = read_file(folder_.path("a.html"));
  EXPECT_THAT(page, HasSubstr("5 images, mean similarity 0.9"));
  EXPECT_THAT(page, HasSubstr(", the nearest 2 are shown"));
  EXPECT_THAT(cluster({"-k", "4", "--pictures", "2"}).out, HasSubstr("          and 3 more\n"));
}

TEST_F(ClusterProgram, RefusesWhatItCannotDo) {
  EXPECT_EQ(cluster({}).status, 2);
  EXPECT_THAT(cluster({}).err, HasSubstr("no number of clusters given, expected -k N"));
  EXPECT_EQ(cluster({"-k", "0"}).status, 2);
  EXPECT_EQ(cluster({"-k", "2", "--seed", "-1"}).status, 2);
  const Finished many = cluster({"-k", "21"});
  EXPECT_EQ(many.status, 1);
  EXPECT_THAT(many.err, HasSubstr("photos.index: has 20 images, expected at least as many as the "
                                  "21 clusters; give a smaller -k"));
}

}  // namespace
}  // namespace vit::tools
