#include <fstream>

#include "tests/fuzz/seeds.h"
#include "tests/index/support.h"
#include "tests/support/folder.h"

namespace vit::fuzz {
namespace {

std::string small_index(index::NumberType type, size_t rows) {
  const test::Folder folder;
  const std::string path = folder.path("a.index");
  index::create_index(path, {type, 3, "{}"});
  index::IndexWriter writer(path, index::read_index(path));
  index::test::append_rows(writer, index::test::unit_rows(rows, 3, 1), "a");
  writer.flush();
  if (rows != 0) writer.replace(0);
  writer.append({.path = "bad", .note = "no image", .status = index::Status::kFailed}, {});
  writer.flush();
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

std::vector<std::string> search_index_seeds() {
  return {small_index(index::NumberType::kF32, 2), small_index(index::NumberType::kF16, 3),
          small_index(index::NumberType::kF32, 0)};
}

}  // namespace vit::fuzz
