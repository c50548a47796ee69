/// POST /v1/attention.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/tools/serve/served.h"

namespace vit::tools {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

TEST(ServeAttention, GivesThePicturesAndPagesOfVitAttention) {
  const std::string model = golden("timm_vit"), image = golden_image("timm_vit");
  const Served served({"-m", model});
  const std::string bytes = read_file(image);
  const Folder folder;
  const auto drawn = [&](const std::string& name, const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"attention", "-m", model, image, "-o", folder.path(name)};
    arguments.insert(arguments.end(), options.begin(), options.end());
    EXPECT_EQ(run(arguments).status, 0);
    return read_file(folder.path(name));
  };
  const std::string url = "/v1/attention?name=" + image;
  const Answer picture = served.post(url, bytes);
  EXPECT_EQ(picture.headers.at("content-type"), "image/png");
  EXPECT_TRUE(picture.body == drawn("a.png", {}));
  EXPECT_TRUE(served.post(url + "&method=rollout", bytes).body ==
              drawn("b.png", {"--method", "rollout"}));
  EXPECT_TRUE(served.post(url + "&layer=0&head=1&query=1,1", bytes).body ==
              drawn("c.png", {"--layer", "0", "--head", "1", "--query", "1,1"}));
  EXPECT_TRUE(served.post(url + "&class=3", bytes).body == drawn("d.png", {"--class", "3"}));
  const Answer page = served.post(url + "&format=html", bytes);
  EXPECT_TRUE(page.body == drawn("e.html", {}));
  const Json numbers = Json::parse(served.post(url + "&format=json", bytes).body);
  EXPECT_EQ(numbers["facts"]["answers"].size(), 5u);
  const size_t tokens = 1 + 4 * 4, rows = 2 * 3 * tokens;
  EXPECT_EQ(numbers["attention"].get<std::string>().size(), (rows * (4 + tokens) + 2) / 3 * 4)
      << "bytes that a program reads without a library";
  EXPECT_THAT(page.body, HasSubstr(numbers["photo"].get<std::string>()));
}

TEST(ServeAttention, NamesTheModelInItsPageAsInItsPictures) {
  const Served served({"-m", "birds=" + golden("timm_vit")});
  const std::string bytes = read_file(golden_image("timm_vit"));
  EXPECT_THAT(served.post("/v1/attention?format=html", bytes).body, HasSubstr(", birds, 4 x 4"));
  const Json numbers = Json::parse(served.post("/v1/attention?format=json", bytes).body);
  EXPECT_THAT(numbers["facts"]["subtitle"].get<std::string>(), HasSubstr(", birds, 4 x 4"));
}

TEST(ServeAttention, LooksForLabelsInWords) {
  const std::string model = two_towers(), image = golden_image("hf_vit");
  const Served served({"-m", model});
  const std::string bytes = read_file(image);
  const Folder folder;
  const auto drawn = [&](const std::string& name, const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"attention",           "-m",  model, "--labels",
                                       "a cat,dog,the birds", image, "-o",  folder.path(name)};
    arguments.insert(arguments.end(), options.begin(), options.end());
    EXPECT_EQ(run(arguments).status, 0);
    return read_file(folder.path(name));
  };
  const std::string url = "/v1/attention?labels=a+cat,dog,the+birds&name=" + image;
  EXPECT_TRUE(served.post(url, bytes).body == drawn("a.png", {}));
  EXPECT_TRUE(served.post(url + "&class=dog", bytes).body == drawn("b.png", {"--class", "dog"}));
  EXPECT_TRUE(served.post(url + "&format=html", bytes).body == drawn("c.html", {}));
  EXPECT_EQ(served.post("/v1/attention?labels=a,a", bytes).status, 400);
  EXPECT_EQ(served.post("/v1/attention?method=relevance", bytes).status, 422);
  const Served own({"-m", golden("timm_vit")});
  EXPECT_EQ(own.post("/v1/attention?labels=a,b", bytes).status, 422);
}

TEST(ServeAttention, ExplainsNothingWhereTokensMerge) {
  const std::string model = golden("timm_vit"), image = golden_image("timm_vit");
  const Served served({"-m", model, "--merge-tokens", "3"});
  const std::string bytes = read_file(image), url = "/v1/attention?name=" + image;
  const Folder folder;
  const auto drawn = [&](const std::string& name, const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"attention", "-m",  model, "--merge-tokens",
                                       "3",         image, "-o",  folder.path(name)};
    arguments.insert(arguments.end(), options.begin(), options.end());
    EXPECT_EQ(run(arguments).status, 0);
    return read_file(folder.path(name));
  };
  for (const auto* asked : {"&method=relevance", "&class=3"}) {
    const Answer refused = served.post(url + asked, bytes);
    EXPECT_EQ(refused.status, 422);
    EXPECT_THAT(refused.body, HasSubstr("which merged patches do not have"));
  }
  EXPECT_TRUE(served.post(url, bytes).body == drawn("a.png", {"--method", "attention"}));
  EXPECT_TRUE(served.post(url + "&format=html", bytes).body == drawn("b.html", {}));
}

TEST(ServeAttention, SaysWhatIsWrong) {
  const Served served({"-m", golden("timm_vit")});
  const std::string bytes = read_file(golden_image("timm_vit"));
  const auto status = [&](const std::string& settings) {
    return served.post("/v1/attention?" + settings, bytes).status;
  };
  EXPECT_EQ(status("format=gif"), 400);
  EXPECT_EQ(status("method=x"), 400);
  EXPECT_EQ(status("layer=x"), 400);
  EXPECT_EQ(status("query=x"), 400);
  EXPECT_EQ(status("layer=99"), 422);
  EXPECT_EQ(status("class=no+such+class"), 422);
  EXPECT_EQ(status("format=png"), 200);
}

}  // namespace
}  // namespace vit::tools
