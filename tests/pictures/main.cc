// Draws the pictures of weights/default/pictures: draw_pictures FOLDER.
#include <cstdio>
#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <string>

#include "tests/pictures/scenes.h"

namespace vit::pictures {
namespace {

constexpr int kEdge = 160;

/// Each picture has a random stream of its own, so that a new one changes no other.
bool draw_to(const std::filesystem::path& folder, const Picture& picture) {
  std::uint64_t seed = 1;
  for (const char* c = picture.name; *c != '\0'; ++c)
    seed = seed * 31 + static_cast<unsigned char>(*c);
  Scene scene(seed);
  picture.draw(scene);
  const auto path = folder / (std::string(picture.name) + ".png");
  if (cv::imwrite(path.string(), scene.finish(kEdge, 2.0, 2.0))) return true;
  std::fprintf(stderr, "%s: cannot be written\n", path.c_str());
  return false;
}

int draw_all(const std::filesystem::path& folder) {
  for (const auto pictures : {living_pictures(), made_pictures()})
    for (const Picture& picture : pictures)
      if (!draw_to(folder, picture)) return 1;
  return 0;
}

}  // namespace
}  // namespace vit::pictures

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: draw_pictures FOLDER\n");
    return 2;
  }
  return vit::pictures::draw_all(argv[1]);
}
