#include "tools/pull/download.h"

#include <string>

#include "tools/output/format.h"
#include "tools/pull/part_file.h"

namespace vit::tools {
namespace {

constexpr long kOk = 200, kPartialContent = 206, kRangeNotSatisfiable = 416, kTooMany = 429,
               kServerError = 500;

void check_room(const RemoteFile& file, std::uintmax_t needed,
                const std::filesystem::path& folder) {
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  if (!error && space.available < needed)
    fail_at(folder.string(), "not enough space for ", file.name, ": it needs ",
            format_bytes(needed), ", ", format_bytes(space.available),
            " are free; free some or set VIT_HOME to another disk");
}

/// Whether this is the body of the file, not of a redirect or an error.
bool accept(const Response& response, const std::string& url, PartFile& part) {
  if (response.status == kOk) {
    if (part.size() != 0) part.restart();  // the server cannot resume
    return true;
  }
  if (response.status == kPartialContent) {
    const std::string expected = "bytes " + std::to_string(part.size()) + "-";
    const std::string range = response.header("content-range");
    if (range.starts_with(expected)) return true;
    part.restart();
    fail_as<BrokenConnection>(origin_of(url), "answered with the range '", range, "', expected '",
                              expected, "…'");
  }
  if (response.status == kRangeNotSatisfiable) {
    part.restart();
    fail_as<BrokenConnection>(origin_of(url), "cannot resume in the middle of the file");
  }
  if (response.status == kTooMany || response.status >= kServerError)
    fail_as<BrokenConnection>(origin_of(url), "is too busy, status ", response.status);
  return false;
}

/// A download of unknown size could fill the disk.
void settle_size(const Response& response, const RemoteFile& file, PartFile& part) {
  if (part.has_expected_size()) return;
  if (const auto length = response.number("content-length"))
    part.expect(part.size() + *length);
  else if (!part.is_small())
    fail_at(file.name, "the server states no size, so it could fill the disk; not fetched");
}

void fetch_rest(HubRepository& repository, const RemoteFile& file, PartFile& part,
                const Progress& progress) {
  Request request{.url = file.url, .from = part.size()};
  bool counted = false;  // whether the server stated the length
  request.on_headers = [&](const Response& response) {
    counted = response.number("content-length").has_value();
    const bool accepted = accept(response, file.url, part);
    if (accepted) settle_size(response, file, part);
    return accepted;
  };
  request.on_body = [&](std::span<const std::byte> bytes) {
    part.add(bytes);
    progress(part.size());
  };
  const Response response = repository.get(request);
  if (response.status >= 400)
    fail_at(repository.name(), "cannot fetch ", file.name, ": the server says ", response.status);
  if (file.size && part.size() < *file.size && !counted)
    fail_as<BrokenConnection>(origin_of(file.url), "the connection broke after ", part.size(),
                              " of ", *file.size, " bytes");
}

}  // namespace

std::string download(HubRepository& repository, const RemoteFile& file,
                     const std::filesystem::path& path, const Progress& progress) {
  PartFile part(path, file);
  if (file.size) check_room(file, *file.size - part.size(), path.parent_path());
  progress(part.size());
  const bool complete = file.size && part.size() == *file.size;
  if (!complete)
    with_retries(
        repository.retries(), [&] { return part.size(); },
        [&] { fetch_rest(repository, file, part, progress); });
  return part.finish();
}

}  // namespace vit::tools
