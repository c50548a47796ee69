#include "tools/rows/header_file.h"

#include <fstream>
#include <iterator>
#include <span>

#include "tools/rows/sums.h"
#include "vit/base/atomic_file.h"
#include "vit/base/error.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSum = R"("crc32":")", kEnd = "\"}\n";

/// The last field of the object is the checksum of the object without it.
std::string with_sum(std::string_view header) {
  const bool empty = header.find(':') == header.npos;
  return std::string(header.substr(0, header.size() - 1)) + (empty ? "" : ",") + std::string(kSum) +
         checksum_text(checksum(header)) + std::string(kEnd);
}

}  // namespace

fs::path header_file_of(const fs::path& rows) {
  return rows.string() + ".run.json";
}

std::optional<StoredHeader> read_header_file(const fs::path& rows) {
  const fs::path path = header_file_of(rows);
  if (!fs::exists(path)) return std::nullopt;
  std::ifstream stream(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  if (stream.bad() || !stream) fail_at(path.string(), "cannot read");
  const size_t at = text.rfind(kSum);
  if (at == text.npos || at == 0) return StoredHeader{.text = text};
  const std::string header = text.substr(0, text[at - 1] == ',' ? at - 1 : at) + "}";
  return StoredHeader{.text = header, .intact = with_sum(header) == text};
}

void write_header_file(const fs::path& rows, std::string_view header) {
  const std::string text = with_sum(header);
  write_atomically(header_file_of(rows), std::as_bytes(std::span(text)));
}

}  // namespace vit::tools
