#include "weights/storage.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "vit/base/round.h"
#include "weights/formats/mapped_file.h"

namespace vit::weights {

Storage::Storage(std::shared_ptr<const MappedFile> file)
    : owner_(file), file_(file == nullptr ? std::span<const std::byte>{} : file->bytes()) {}

void Storage::release(std::span<const std::byte> bytes) const {
  const std::byte* end = bytes.data() + bytes.size();
  if (bytes.empty() || bytes.data() < file_.data() || end > file_.data() + file_.size()) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const size_t first = round_up(reinterpret_cast<std::uintptr_t>(bytes.data()), page);
  const auto last = reinterpret_cast<std::uintptr_t>(end) / page * page;
  // Advice: where the system does not take it, memory is merely used for longer.
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace vit::weights
