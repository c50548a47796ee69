#include "vit/train/state.h"

#include "vit/base/error.h"
#include "vit/train/archive.h"

namespace vit::train {
namespace {

constexpr Magic kMagic{'v', 'i', 't', 't', 'r', 'a', 'n', '2'};

template <typename Archive, typename S>
void visit(Archive&& each, S& s) {
  each(s.fingerprint);
  each(s.epoch);
  each(s.step);
  each(s.sum);
  each(s.seen);
  each(s.seconds);
  each(s.history);
  each(s.first_compared);
  each(s.numbers);
  each(s.average);
  each(s.moments.first);
  each(s.moments.second);
  each(s.moments.steps);
}

}  // namespace

void save_state(const std::filesystem::path& path, const State& state) {
  ArchiveWriter writer;
  visit([&](const auto& field) { writer.put(field); }, state);
  try {
    write_archive(path, kMagic, writer);
  } catch (const Error& error) {
    fail_again(error, "; the checkpoint before it is kept");
  }
}

State load_state(const std::filesystem::path& path, std::uint64_t fingerprint) {
  ArchiveReader reader = read_archive(path, kMagic, "training checkpoint");
  State state(0);
  visit([&](auto& field) { reader.get(field); }, state);
  reader.expect_end();
  if (state.fingerprint != fingerprint)
    fail_at(path.string(), "belongs to a run with other data, model or settings");
  return state;
}

}  // namespace vit::train
