/// Search in an index file of a million vectors, mapped and in the page cache; and what compares
/// all images of a collection with each other.
#include <benchmark/benchmark.h>

#include "tests/index/support.h"
#include "tests/support/folder.h"
#include "vit/index/cluster.h"
#include "vit/index/diverse.h"
#include "vit/index/duplicates.h"
#include "vit/index/search.h"
#include "vit/index/writer.h"
#include "weights/formats/mapped_file.h"

namespace vit::index {
namespace {

constexpr size_t kRows = 1'000'000, kWidth = 512;

/// Written once per type, and gone at the end.
const Index& large_index(NumberType type) {
  static const vit::test::Folder folder;
  const auto make = [](NumberType kind, const char* name) {
    const std::string path = folder.path(name);
    create_index(path, {kind, kWidth, "{}"});
    {
      IndexWriter writer(path, read_index(path));
      constexpr size_t kSome = 10'000;
      const Matrix rows = test::unit_rows(kSome, kWidth, 1);
      for (size_t first = 0; first < kRows; first += kSome) {
        test::append_rows(writer, rows, std::to_string(first) + "/");
        writer.flush();
      }
    }
    return read_index(path);
  };
  static const Index f32 = make(NumberType::kF32, "f32.index"),
                     f16 = make(NumberType::kF16, "f16.index");
  return type == NumberType::kF32 ? f32 : f16;
}

void search_million(benchmark::State& state, NumberType type) {
  const Index& index = large_index(type);
  ThreadPool pool(static_cast<size_t>(state.range(0)));
  const Matrix queries = test::unit_rows(static_cast<size_t>(state.range(1)), kWidth, 2);
  for (auto _ : state)
    benchmark::DoNotOptimize(search(index.vectors, queries, 20, {&pool, active_isa()}));
  state.SetBytesProcessed(
      static_cast<std::int64_t>(state.iterations() * kRows * index.vectors.row_bytes()));
}

void open_million(benchmark::State& state) {
  large_index(NumberType::kF32);
  const Index& index = large_index(NumberType::kF16);
  const auto* file = static_cast<const weights::MappedFile*>(index.storage.get());
  for (auto _ : state) benchmark::DoNotOptimize(parse_index(file->bytes(), "bench"));
}

/// 20,000 vectors of DeiT-Ti's width, no two of them alike: the most that can be compared.
const Matrix& collection() {
  static const Matrix rows = test::unit_rows(20'000, 192, 3);
  return rows;
}

void group_collection(benchmark::State& state) {
  const Vectors vectors = vectors_of(collection());
  const auto order = live_rows(vectors);
  ThreadPool pool(static_cast<size_t>(state.range(0)));
  for (auto _ : state)
    benchmark::DoNotOptimize(group_duplicates(vectors, order, 0.95f, {&pool, active_isa()}));
  const double pairs = 0.5 * static_cast<double>(vectors.rows) * static_cast<double>(vectors.rows);
  state.counters["pairs"] = benchmark::Counter(pairs * static_cast<double>(state.iterations()),
                                               benchmark::Counter::kIsRate);
}

void cluster_collection(benchmark::State& state) {
  const Vectors vectors = vectors_of(collection());
  ThreadPool pool(static_cast<size_t>(state.range(0)));
  for (auto _ : state)
    benchmark::DoNotOptimize(
        cluster(vectors, {.clusters = 100, .most_rounds = 20}, {&pool, active_isa()}));
}

void pick_from_collection(benchmark::State& state) {
  const Vectors vectors = vectors_of(collection());
  ThreadPool pool(static_cast<size_t>(state.range(0)));
  for (auto _ : state)
    benchmark::DoNotOptimize(pick_diverse(vectors, {}, 100, {&pool, active_isa()}));
}

void threads_and_queries(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgNames({"threads", "queries"})
      ->Args({1, 1})
      ->Args({2, 1})
      ->Args({2, 8})
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
}

BENCHMARK_CAPTURE(search_million, f32, NumberType::kF32)->Apply(threads_and_queries);
BENCHMARK_CAPTURE(search_million, f16, NumberType::kF16)->Apply(threads_and_queries);
BENCHMARK(open_million)->Unit(benchmark::kMillisecond);
BENCHMARK(group_collection)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(cluster_collection)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(pick_from_collection)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace vit::index
