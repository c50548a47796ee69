#include "tools/inputs/name_list.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "vit/base/error.h"

namespace vit::tools {
namespace {

constexpr int kPatience = 100;  // ms between two checks of `stop`
constexpr std::size_t kLongestName = std::size_t{1} << 20;

}  // namespace

std::optional<std::string> NameList::next() {
  while (true) {
    const std::size_t end = buffer_.find(separator_, at_);
    if (end == buffer_.npos && !ended_) {
      if (buffer_.size() - at_ > kLongestName)
        fail("a name of more than ", kLongestName, " bytes; is this a list of file names?");
      if (!read_more()) ended_ = true;
      if (stop_) return std::nullopt;
      continue;
    }
    std::string name = buffer_.substr(at_, end == buffer_.npos ? end : end - at_);
    at_ = end == buffer_.npos ? buffer_.size() : end + 1;
    if (separator_ == '\n' && name.ends_with('\r')) name.pop_back();
    if (!name.empty()) return name;
    if (ended_ && at_ >= buffer_.size()) return std::nullopt;
  }
}

bool NameList::read_more() {
  buffer_.erase(0, at_);
  at_ = 0;
  std::array<char, 65536> bytes;
  while (!stop_) {
    // Reads only after poll(): a signal interrupts poll(), but read() would be restarted.
    pollfd waiting{.fd = file_, .events = POLLIN, .revents = 0};
    const int ready = poll(&waiting, 1, kPatience);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t count = ready < 0 ? -1 : ::read(file_, bytes.data(), bytes.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) fail("cannot read the list: ", std::strerror(errno));
    buffer_.append(bytes.data(), static_cast<std::size_t>(count));
    return count > 0;
  }
  return false;
}

}  // namespace vit::tools
