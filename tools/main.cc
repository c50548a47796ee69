#include <fcntl.h>
#include <malloc.h>

#include "tools/commands.h"

namespace {

/// An opened file gets the lowest free descriptor: with standard error closed, our messages would
/// be written into a result. With these modes, reading from 0 and writing to 1 remain errors.
void occupy_standard_streams() {
  constexpr int kModes[] = {O_WRONLY, O_RDONLY, O_RDWR};
  for (int stream = 0; stream <= 2; ++stream)
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", kModes[stream]);
}

/// Otherwise each worker's heap keeps the memory of its largest image: after freeing a large block,
/// glibc serves blocks up to that size from the heap.
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
