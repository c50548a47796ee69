#include "tools/output/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tools/output/unicode.h"

namespace vit::tools {

size_t terminal_columns() {
  winsize size{};
  if (output_is_terminal() && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return 80;
}

bool output_is_terminal() {
  return isatty(STDOUT_FILENO) == 1;
}

bool output_has_colour() {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* terminal = std::getenv("TERM");
  return output_is_terminal() && terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

void write_output(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return;
  if (errno == EPIPE) throw OutputClosed();
  fail("cannot write the results: ", std::strerror(errno));
}

void write_message(std::string_view message) {
  std::fflush(stdout);
  std::string text = "vit: ";
  while (!message.empty()) {
    const size_t end = message.find('\n');
    text += printable(message.substr(0, end)) + '\n';
    message.remove_prefix(end == message.npos ? message.size() : end + 1);
  }
  std::fputs(text.c_str(), stderr);
}

}  // namespace vit::tools
