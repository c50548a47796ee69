// Loaded before the C library: logs to $VIT_SYNC_LOG which folders were synced, since a test cannot
// cut the power.
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

extern "C" int fsync(int file) {
  struct stat status {};
  const char* log = std::getenv("VIT_SYNC_LOG");
  if (log != nullptr && ::fstat(file, &status) == 0 && S_ISDIR(status.st_mode)) {
    std::array<char, 4096> target{};
    const std::string link = "/proc/self/fd/" + std::to_string(file);
    if (std::FILE* out = std::fopen(log, "a");
        out != nullptr && ::readlink(link.c_str(), target.data(), target.size() - 1) > 0) {
      std::fprintf(out, "%s\n", target.data());
      std::fclose(out);
    }
  }
  using Fsync = int (*)(int);
  return reinterpret_cast<Fsync>(::dlsym(RTLD_NEXT, "fsync"))(file);
}
