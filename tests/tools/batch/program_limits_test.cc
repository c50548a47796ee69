/// With few threads or little memory a run ends with a clear error and never hangs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "tests/support/paths.h"
#include "tests/tools/batch/batch_call.h"

namespace vit::tools {
namespace {

using testing::HasSubstr;

constexpr std::chrono::seconds kPatience{120};

/// `call` as a user who has no other processes, with a limit on processes and threads.
Call with_processes(Call call, size_t most, int user) {
  call.arguments.insert(call.arguments.begin(),
                        {"--reuid=" + std::to_string(user), "--clear-groups", "prlimit",
                         "--nproc=" + std::to_string(most), test::program()});
  call.program = "setpriv";
  // LeakSanitizer looks for leaks in a process of its own, for which the limit has no room.
  call.environment.emplace_back("ASAN_OPTIONS=detect_leaks=0");
  return call;
}

Finished ended(const Call& call) {
  Running running(call);
  if (!running.ends_within(kPatience)) ADD_FAILURE() << "hangs";
  return running.wait();
}

/// Whether processes of another user can be limited here: those of root cannot.
bool can_limit(const Folder& folder, int user) {
  chmod(folder.path().c_str(), 0777);
  Call call;
  call.arguments = {"--version"};
  return geteuid() == 0 && run(with_processes(call, 5, user)).status == 0;
}

TEST(Limits, OfThreadsAreAClearError) {
  constexpr int kUser = 64'321;
  const Folder folder;
  write_images(folder, 4);
  if (!can_limit(folder, kUser)) GTEST_SKIP() << "cannot limit another user's processes here";
  Call classify;
  classify.arguments = {"classify",  "-m", golden("hf_vit"),
                        "--threads", "4",  golden_image("hf_vit")};
  const Finished few = ended(with_processes(classify, 3, kUser));
  EXPECT_EQ(few.status, 1);
  EXPECT_EQ(few.out, "");
  EXPECT_EQ(few.err,
            "vit: cannot start 4 worker threads: Resource temporarily unavailable; use --threads "
            "1\n");
  for (size_t most = 1; most <= 7; ++most) {
    const std::string output = folder.path("r" + std::to_string(most) + ".csv");
    const Finished finished = ended(with_processes(
        batch_call({folder.path("in"), "-o", output, "--threads", "4"}), most, kUser));
    if (most >= 6) {  // the program itself, four workers and the listing
      EXPECT_EQ(finished.status, 0) << finished.err;
      continue;
    }
    EXPECT_EQ(finished.status, 1) << most;
    EXPECT_EQ(finished.err, few.err) << most;
    // Nothing is lost: the run continues when it can have more threads.
    EXPECT_EQ(batch({folder.path("in"), "-o", output}).status, 0);
  }
  const Finished one = ended(with_processes(
      batch_call({folder.path("in"), "-o", folder.path("one.csv"), "--threads", "1"}), 2, kUser));
  EXPECT_EQ(one.status, 1);
  EXPECT_EQ(
      one.err,
      "vit: cannot start 1 worker thread: Resource temporarily unavailable; raise the limit of "
      "processes (ulimit -u)\n");
}

TEST(Limits, OfThreadsAreAClearErrorOfTheServiceToo) {
  constexpr int kUser = 64'324;
  const Folder folder;
  if (!can_limit(folder, kUser)) GTEST_SKIP() << "cannot limit another user's processes here";
  for (size_t most = 1; most <= 4; ++most) {  // its main thread and four workers are five
    Call serve;
    serve.arguments = {"serve", "--port", "0", "-m", golden("hf_vit"), "--threads", "4"};
    const Finished finished = ended(with_processes(serve, most, kUser));
    EXPECT_EQ(finished.status, 1) << most;
    EXPECT_THAT(finished.err, HasSubstr("vit: cannot start ")) << most;
  }
}

TEST(Limits, OfOneThreadAreEnoughToClassify) {
  constexpr int kUser = 64'322;
  const Folder folder;
  if (!can_limit(folder, kUser)) GTEST_SKIP() << "cannot limit another user's processes here";
  // The module that decodes BMP itself loads libraries of linear algebra.
  const std::string bmp = folder.write("a.bmp", image_bytes());
  chmod(bmp.c_str(), 0644);
  for (const auto& image : {golden_image("hf_vit"), bmp}) {
    Call call;
    call.arguments = {"classify", "-m", golden("hf_vit"), "--threads", "1", image};
    const Finished finished = ended(with_processes(call, 1, kUser));
    EXPECT_EQ(finished.status, 0);
    EXPECT_EQ(finished.err, "") << "starts a thread that was not requested";
  }
}

TEST(Limits, OfMemoryEndTheProgramAndDoNotHangIt) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer reserves more than any limit";
#endif
  for (int megabytes = 100; megabytes <= 250; megabytes += 10) {
    Call call;
    call.program = "prlimit";
    call.arguments = {"--as=" + std::to_string(megabytes << 20),
                      test::program(),
                      "classify",
                      "-m",
                      golden("hf_vit"),
                      "--threads",
                      "1",
                      golden_image("hf_vit")};
    Running running(call);
    EXPECT_TRUE(running.ends_within(kPatience)) << megabytes << " MB";
    const Finished finished = running.wait();
    // 127: not even the libraries could be loaded.
    EXPECT_THAT(finished.status, testing::AnyOf(0, 1, 127)) << megabytes << " MB: " << finished.err;
  }
}

}  // namespace
}  // namespace vit::tools
