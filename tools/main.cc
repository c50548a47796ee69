#include <fcntl.h>

#include "tools/command.h"

namespace {

/// A file that is opened takes the lowest free number: where standard error is closed, our messages
/// would be written into a result. The modes leave reading 0 and writing 1 an error.
void occupy_standard_streams() {
  constexpr int kModes[] = {O_WRONLY, O_RDONLY, O_RDWR};
  for (int stream = 0; stream <= 2; ++stream)
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", kModes[stream]);
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_streams();
  return vit::tools::run_program({argv + (argc > 0 ? 1 : 0), argv + argc});
}
