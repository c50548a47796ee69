#include <fcntl.h>
#include <malloc.h>

#include "tools/commands.h"

namespace {

/// A file that is opened takes the lowest free number: where standard error is closed, our messages
/// would be written into a result. The modes leave reading 0 and writing 1 an error.
void occupy_standard_streams() {
  constexpr int kModes[] = {O_WRONLY, O_RDONLY, O_RDWR};
  for (int stream = 0; stream <= 2; ++stream)
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", kModes[stream]);
}

/// Otherwise each worker's heap keeps the memory of its largest image: glibc serves ever larger
/// blocks from heaps once one of them was freed.
void give_images_back() {
#if defined(__GLIBC__)
  constexpr int kLargestFromHeap = 4 << 20;
  mallopt(M_MMAP_THRESHOLD, kLargestFromHeap);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_streams();
  give_images_back();
  return vit::tools::run_program(vit::tools::commands(), {argv + (argc > 0 ? 1 : 0), argv + argc});
}
