// Opening a file and making a model of it, against reading the file's bytes and packing every
// matrix.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "bench/interleaved.h"
#include "tests/support/folder.h"
#include "tests/support/random_checkpoint.h"
#include "vit/kernels/linear.h"
#include "vit/model/load.h"
#include "weights/known/architectures.h"
#include "weights/save.h"

namespace vit::bench {
namespace {

namespace fs = std::filesystem;

/// Written once per run and gone after it; its pages stay in the cache, so nobody measures the
/// disk.
class WeightFile {
 public:
  explicit WeightFile(const char* architecture) {
    weights::save(path(), test::random_checkpoint(weights::config_of(architecture)));
  }
  std::string path() const { return folder_.path("weights"); }

 private:
  test::Folder folder_;
};

void read_piece(int file, std::byte* to, size_t size, size_t offset) {
  if (::pread(file, to, size, static_cast<off_t>(offset)) != static_cast<ssize_t>(size))
    throw std::runtime_error("cannot read");
}

/// The least there is to do: each matrix is read into its own rows and packed, all else is read.
size_t read_and_pack(const weights::Checkpoint& listed) {
  const int file = ::open(listed.path.c_str(), O_RDONLY);
  std::vector<Linear> packed;
  std::vector<std::vector<std::byte>> kept;
  size_t offset = 0;
  for (const auto& [name, weight] : listed.weights()) {
    const size_t bytes = weight.size() * sizeof(float), cols = weight.cols();
    if (weight.rows() > 1 && cols > 1) {
      packed.push_back(pack_linear(
          weight.rows(), cols,
          [&](size_t first, size_t count, float* rows) {
            read_piece(file, reinterpret_cast<std::byte*>(rows), count * cols * sizeof(float),
                       offset + first * cols * sizeof(float));
          },
          {}, active_isa()));
    } else {
      kept.emplace_back(bytes);
      read_piece(file, kept.back().data(), bytes, offset);
    }
    offset += bytes;
  }
  ::close(file);
  return packed.size();
}

void load(benchmark::State& state, const char* architecture) {
  const WeightFile file(architecture);
  const weights::Checkpoint listed = weights::open(file.path());
  state.counters["MB"] = static_cast<double>(fs::file_size(file.path())) / 1e6;
  interleave(
      state, [&] { benchmark::DoNotOptimize(load_model(weights::open(file.path())).parameters); },
      [&] { benchmark::DoNotOptimize(read_and_pack(listed)); });
}

BENCHMARK_CAPTURE(load, vit_tiny, "vit_tiny_patch16_224")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(load, vit_base, "vit_base_patch16_224")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vit::bench
