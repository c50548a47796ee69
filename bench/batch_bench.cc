// `vit batch` over a folder of photographs against the model alone with all threads: what reading,
// decoding, resizing and writing leave of the rate. DeiT-Ti with random weights; the images are
// made.
//
//   VIT_BENCH_IMAGES   how many, 2,000 unless given
//
// decode_ms, resize_ms and model_ms are one thread's time for an image: where the workers spend it.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <jpeglib.h>  // needs <cstdio> before it

#include "bench/interleaved.h"
#include "tests/support/folder.h"
#include "tests/support/random_checkpoint.h"
#include "tools/batch/batch.h"
#include "vit/base/thread_pool.h"
#include "vit/model/load.h"
#include "vit/model/runner.h"
#include "weights/known/architectures.h"
#include "weights/save.h"

namespace vit::bench {
namespace {

namespace fs = std::filesystem;

constexpr size_t kWidth = 500, kHeight = 375;  // the usual size of ImageNet's photographs

/// Soft shapes with grain: about 60 kB at quality 90, as a photograph of this size has.
std::vector<std::uint8_t> picture(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> pixels(kWidth * kHeight * 3);
  const auto a = static_cast<double>(random() % 97 + 20),
             b = static_cast<double>(random() % 83 + 20);
  for (size_t y = 0; y < kHeight; ++y)
    for (size_t x = 0; x < kWidth; ++x)
      for (size_t c = 0; c < 3; ++c) {
        const double wave = std::sin(static_cast<double>(x) / a + static_cast<double>(c)) *
                            std::cos(static_cast<double>(y) / b);
        const auto grain = static_cast<double>(random() % 24);
        pixels[(y * kWidth + x) * 3 + c] = static_cast<std::uint8_t>(116.0 + 100.0 * wave + grain);
      }
  return pixels;
}

void write_jpeg(const fs::path& path, std::vector<std::uint8_t> pixels) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  jpeg_stdio_dest(&jpeg, file);
  jpeg.image_width = kWidth;
  jpeg.image_height = kHeight;
  jpeg.input_components = 3;
  jpeg.in_color_space = JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 90, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  for (size_t y = 0; y < kHeight; ++y) {
    JSAMPROW row = pixels.data() + y * kWidth * 3;
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::fclose(file);
}

/// A model file and a folder of images, gone at the end.
class Material {
 public:
  explicit Material(size_t count) {
    fs::create_directory(images());
    auto checkpoint = test::random_checkpoint(weights::config_of("deit_tiny_patch16_224"));
    checkpoint.recipe.resize_height = checkpoint.recipe.resize_width = 248;
    weights::save(model(), checkpoint);
    for (size_t i = 0; i < count; ++i)
      write_jpeg(fs::path(images()) / (std::to_string(i) + ".jpg"),
                 picture(static_cast<unsigned>(i)));
  }

  std::string model() const { return folder_.path("model.safetensors"); }
  std::string images() const { return folder_.path("images"); }
  std::string output() const { return folder_.path("rows.csv"); }

 private:
  test::Folder folder_;
};

/// The same number of images through the model, one per worker, from ready pixels.
class Alone {
 public:
  Alone(const Material& material, size_t images)
      : model_(load_model(weights::open(material.model()))), images_(images) {
    for (size_t i = 0; i < pool_.size(); ++i) runners_.emplace_back(model_, Recipe{});
  }
  void operator()() {
    pool_.run(images_, [&](size_t, size_t worker) { runners_[worker].logits(); });
  }
  double one() {
    return seconds([&] { runners_[0].logits(); });
  }

 private:
  Model model_;
  size_t images_;
  ThreadPool pool_;
  std::vector<Runner> runners_;
};

void batch(const Material& material) {
  const std::string model = material.model(), images = material.images(),
                    output = material.output();
  const std::vector<const char*> arguments{"-m",           model.c_str(), images.c_str(), "-o",
                                           output.c_str(), "--restart",   "--quiet"};
  if (tools::run_command(tools::batch_command(), arguments) != 0)
    throw std::runtime_error("vit batch failed");
}

template <typename Function>
double best_ms(const Function& function) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 20; ++i) best = std::min(best, function());
  return best * 1e3;
}

void folder_of_photographs(benchmark::State& state) {
  const char* given = std::getenv("VIT_BENCH_IMAGES");
  const size_t images = given == nullptr ? 2000 : std::strtoul(given, nullptr, 10);
  const Material material(images);
  Alone alone(material, images);
  interleave(
      state, [&] { batch(material); }, [&] { alone(); });
  const auto count = static_cast<double>(images) * 1e3;
  state.counters["batch/s"] = count / state.counters["ours_ms"].value;
  state.counters["model/s"] = count / state.counters["theirs_ms"].value;
  state.counters["of_model"] = state.counters["theirs_ms"].value / state.counters["ours_ms"].value;

  const std::string first = material.images() + "/0.jpg";
  const patch::Image image = patch::read_image(first);
  const Recipe recipe = weights::open(material.model()).recipe;
  patch::RecipeScratch scratch;
  Matrix planes(3, recipe.crop_height * recipe.crop_width);
  state.counters["decode_ms"] =
      best_ms([&] { return seconds([&] { benchmark::DoNotOptimize(patch::read_image(first)); }); });
  state.counters["resize_ms"] = best_ms([&] {
    return seconds([&] { patch::apply_recipe(image, recipe, scratch, planes, active_isa()); });
  });
  state.counters["model_ms"] = best_ms([&] { return alone.one(); });
}
BENCHMARK(folder_of_photographs)->Iterations(2)->Unit(benchmark::kSecond)->UseRealTime();

}  // namespace
}  // namespace vit::bench
