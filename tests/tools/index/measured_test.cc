/// Recall and precision on photographs and distorted copies of them, with the features of DeiT-Ti.
/// The figures are those of tools/duplicates/README.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/paths.h"
#include "tests/tools/index/index_call.h"
#include "tools/draw/canvas.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::vector<std::string> kKinds{"copy",     "half",    "tenth",  "recompressed",
                                      "brighter", "cropped", "flipped"};

patch::Image brighter(patch::Image image) {
  for (auto& x : image.pixels) x = static_cast<std::uint8_t>(std::min(255, x * 6 / 5 + 10));
  return image;
}

/// KIND/NAME.jpg for every kind.
void write_copies(const fs::path& original, const Folder& folder) {
  const patch::Image image = patch::read_image(original);
  const auto path = [&](const std::string& kind) {
    return folder.path(kind + "/" + original.stem().string() + ".jpg");
  };
  const auto resized = [&](double scale) {
    const auto side = [&](size_t pixels) {
      return static_cast<size_t>(scale * static_cast<double>(pixels));
    };
    return scaled(image, side(image.width), side(image.height));
  };
  for (const auto& kind : {"original", "copy"}) {
    fs::create_directories(folder.path(kind));
    fs::copy_file(original, path(kind));
  }
  write_jpeg(resized(0.5), 90, path("half"));
  write_jpeg(resized(0.316), 90, path("tenth"));  // of the pixels
  write_jpeg(image, 30, path("recompressed"));
  write_jpeg(brighter(image), 90, path("brighter"));
  write_jpeg(cropped(image, 0.9), 90, path("cropped"));
  write_jpeg(flipped(image), 90, path("flipped"));
}

std::string name_of(const json& image) {
  return fs::path(image["path"].get<std::string>()).filename().string();
}
std::string kind_of(const json& image) {
  return fs::path(image["path"].get<std::string>()).parent_path().filename().string();
}

/// 100 photographs of 100 classes, with seven copies of each, and an index of them all.
struct Photographs {
  Folder folder{};
  std::string index = folder.path("all.index");
  size_t count = 0;

  Photographs(const fs::path& model, const fs::path& images) {
    for (const auto& entry : fs::directory_iterator(images)) {
      write_copies(entry.path(), folder);
      ++count;
    }
    std::vector<std::string> arguments{
        "index", "-q", "-m", model.string(), "-o", index, folder.path("original")};
    for (const auto& kind : kKinds) arguments.push_back(folder.path(kind));
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.status, 0) << finished.err;
  }
};

json result_of(const std::vector<std::string>& arguments) {
  const Finished finished = run(arguments);
  EXPECT_EQ(finished.status, 0) << finished.err;
  return json::parse(finished.out);
}

struct Figures {
  std::map<std::string, double> recall{};  ///< of each kind: in the group of its original
  double precision = 1.0;                  ///< proposals whose kept image is of the same photograph
};

Figures figures_of(const json& result, size_t originals) {
  std::map<std::string, size_t> found;
  size_t right = 0, proposals = 0;
  for (const auto& group : result["groups"]) {
    std::vector<json> members(group["duplicates"].begin(), group["duplicates"].end());
    for (const auto& member : members) {
      ++proposals;
      if (name_of(member) == name_of(group["keep"])) ++right;
    }
    members.push_back(group["keep"]);
    std::set<std::string> with_original;
    for (const auto& member : members)
      if (kind_of(member) == "original") with_original.insert(name_of(member));
    for (const auto& member : members)
      if (with_original.contains(name_of(member))) ++found[kind_of(member)];
  }
  Figures figures;
  for (const auto& kind : kKinds)
    figures.recall[kind] = static_cast<double>(found[kind]) / static_cast<double>(originals);
  if (proposals != 0)
    figures.precision = static_cast<double>(right) / static_cast<double>(proposals);
  return figures;
}

/// The least recall of each kind in the order of kKinds, by threshold: the measured one less a
/// twentieth, since other decoders and processors differ.
const std::map<std::string, std::vector<double>> kLeastRecall{
    {"0.95", {1.0, 0.22, 0.00, 0.34, 0.85, 0.25, 0.81}},
    {"0.9", {1.0, 0.55, 0.10, 0.68, 0.94, 0.71, 0.95}},
    {"0.8", {1.0, 0.89, 0.55, 0.92, 0.95, 0.92, 0.95}},
    {"0.7", {1.0, 0.94, 0.80, 0.94, 0.95, 0.95, 0.95}},
};

void measure_duplicates(const Photographs& all) {
  for (const auto& [threshold, least] : kLeastRecall) {
    const Figures figures = figures_of(
        result_of({"duplicates", all.index, "-q", "--json", "-t", threshold}), all.count);
    std::string line = threshold + ": precision " + std::to_string(figures.precision) + ", recall";
    for (size_t kind = 0; kind < kKinds.size(); ++kind) {
      const double recall = figures.recall.at(kKinds[kind]);
      line += " " + kKinds[kind] + " " + std::to_string(recall).substr(0, 4);
      EXPECT_GE(recall, least[kind]) << threshold << " " << kKinds[kind];
    }
    EXPECT_EQ(figures.precision, 1.0) << threshold;
    std::printf("%s\n", line.c_str());
  }
}

/// Copies of a kind as queries: the share of them whose most similar image of another kind is of
/// the same photograph.
void measure_search(const Photographs& all) {
  for (const std::string kind : {"tenth", "recompressed", "flipped"}) {
    std::vector<std::string> arguments{"search", all.index, "--json", "-k", "2"};
    for (const auto& entry : fs::directory_iterator(all.folder.path(kind)))
      arguments.insert(arguments.end(), {"--image", entry.path().string()});
    size_t right = 0;
    const json result = result_of(arguments);
    for (const auto& query : result["queries"]) {
      const std::string image = query["query"].get<std::string>().substr(6);
      const auto other = std::ranges::find_if(
          query["results"], [&](const json& hit) { return hit["path"] != image; });
      if (other != query["results"].end() && name_of(*other) == fs::path(image).filename().string())
        ++right;
    }
    const double recall = static_cast<double>(right) / static_cast<double>(all.count);
    std::printf("%s: recall at 1 %.2f\n", kind.c_str(), recall);
    EXPECT_GE(recall, 0.95) << kind;
  }
}

/// As many clusters as photographs: the share of images in a cluster that is mostly of their own.
void measure_clusters(const Photographs& all) {
  const json result = result_of(
      {"cluster", all.index, "-q", "--json", "-k", std::to_string(all.count), "--seed", "1"});
  size_t right = 0, images = 0;
  for (const auto& one : result["clusters"]) {
    std::map<std::string, size_t> names;
    size_t most = 0;
    for (const auto& image : one["images"]) most = std::max(most, ++names[name_of(image)]);
    right += most;
    images += one["images"].size();
  }
  EXPECT_EQ(images, (kKinds.size() + 1) * all.count);
  const double purity = static_cast<double>(right) / static_cast<double>(images);
  std::printf("%zu clusters: purity %.3f, %d rounds\n", result["clusters"].size(), purity,
              result["rounds"].get<int>());
  EXPECT_GE(purity, 0.9);
}

/// As many picks as photographs: how many different ones are among them.
void measure_picks(const Photographs& all) {
  const json result = result_of({"pick", all.index, std::to_string(all.count), "-q", "--json"});
  std::set<std::string> names;
  for (const auto& image : result["images"]) names.insert(name_of(image));
  std::printf("%zu photographs in %zu picks\n", names.size(), result["images"].size());
  EXPECT_GE(static_cast<double>(names.size()), 0.9 * static_cast<double>(all.count));
}

TEST(Measured, RecallAndPrecisionOnDistortedPhotographs) {
  const fs::path model = test::shared() / "models" / "deit_tiny_patch16_224";
  const fs::path images = test::shared() / "images" / "imagenet-100";
  if (!fs::exists(model) || !fs::exists(images))
    GTEST_SKIP() << "needs ../shared/models and ../shared/images";
  const Photographs all(model, images);
  measure_duplicates(all);
  measure_search(all);
  measure_clusters(all);
  measure_picks(all);
}

}  // namespace
}  // namespace vit::tools
