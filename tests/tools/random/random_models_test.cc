// For any valid model file every command ends with an answer or with a reason.
//
//   VIT_RANDOM_RUNS=20000 ./random_models_test     this many runs, seeds 0, 1, ... (default 300)
//   VIT_RANDOM_FIRST=5000 ./random_models_test     the first seed, for runs in slices (default 0)
//   VIT_RANDOM_SEED=1234 ./random_models_test      the single run of this seed, with its output
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "tests/tools/random/random_command.h"
#include "tools/commands.h"

#ifdef __SANITIZE_ADDRESS__
extern "C" void __sanitizer_set_death_callback(void (*callback)());
#endif

namespace vit {
namespace {

/// What to say if the process dies in the middle of a run.
std::array<char, 4096> last_words{};

void say_last_words() {
  [[maybe_unused]] const auto written =
      ::write(STDERR_FILENO, last_words.data(), std::strlen(last_words.data()));
}

void die(int signal) {
  say_last_words();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void prepare_last_words() {
  for (const int signal : {SIGABRT, SIGALRM}) std::signal(signal, die);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_set_death_callback(say_last_words);
#else
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, die);
#endif
}

/// Redirects a standard stream to memory while it exists. The descriptor stays, so that a
/// sanitizer's report can still be seen.
class Captured {
 public:
  explicit Captured(std::FILE*& stream) : stream_(stream), before_(stream) {
    stream_ = ::open_memstream(&text_, &size_);
  }
  ~Captured() { text(); }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  std::string text() {
    if (stream_ != before_) std::fclose(std::exchange(stream_, before_));
    std::string result(text_ == nullptr ? "" : text_, size_);
    std::free(std::exchange(text_, nullptr));
    size_ = 0;
    return result;
  }

 private:
  std::FILE*& stream_;
  std::FILE* before_;
  char* text_ = nullptr;
  size_t size_ = 0;
};

/// Rows that go to the descriptor itself are not shown.
class SilencedOutput {
 public:
  SilencedOutput() : before_(::dup(STDOUT_FILENO)) {
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    ::dup2(nowhere, STDOUT_FILENO);
    ::close(nowhere);
  }
  ~SilencedOutput() {
    ::dup2(before_, STDOUT_FILENO);
    ::close(before_);
  }
  SilencedOutput(const SilencedOutput&) = delete;
  SilencedOutput& operator=(const SilencedOutput&) = delete;

 private:
  int before_;
};

struct Outcome {
  std::string command;
  int status = 0;
  std::string output;
  std::string messages;
};

std::string joined(const std::vector<std::string>& words) {
  std::string text = "vit";
  for (const auto& word : words) text += " '" + word + "'";
  return text;
}

Outcome run(const std::vector<std::string>& words) {
  std::vector<const char*> arguments;
  for (const auto& word : words) arguments.push_back(word.c_str());
  std::fflush(stdout);
  const SilencedOutput silenced;
  Captured output(stdout), messages(stderr);
  const int status = tools::run_program(tools::commands(), arguments);
  return {words.front(), status, output.text(), messages.text()};
}

Outcome run_words(std::uint64_t seed, const std::vector<std::string>& words) {
  constexpr unsigned kSecondsBeforeItHangs = 300;
  std::snprintf(last_words.data(), last_words.size(), "\nVIT_RANDOM_SEED=%llu: %s\n",
                static_cast<unsigned long long>(seed), joined(words).c_str());
  ::alarm(kSecondsBeforeItHangs);
  const Outcome outcome = run(words);
  ::alarm(0);
  return outcome;
}

/// A random command on a random model, and one on the file that it wrote, if it wrote one.
std::vector<Outcome> run_seed(std::uint64_t seed, const test::Folder& images) {
  test::Dice dice(seed);
  const test::Folder outputs;
  const std::string model = outputs.path("model.safetensors");
  const ModelConfig config = test::random_config(dice);
  test::save_random_model(model, config, dice);
  const test::RandomFolders folders{images, outputs};
  const auto words = test::random_command(model, config, folders, dice);
  std::vector<Outcome> outcomes{run_words(seed, words)};
  const auto next = test::next_random_command(words, model, config, folders, dice);
  if (!next.empty()) outcomes.push_back(run_words(seed, next));
  return outcomes;
}

/// Texts of libraries and of std::exception, which are not meant for users.
bool speaks_to_users(const std::string& text) {
  for (const char* foreign : {"json.exception", "std::", "basic_", "vector::", "bad_", "stoul",
                              "filesystem error", "out of memory", "unknown error"})
    if (text.find(foreign) != std::string::npos) return false;
  return true;
}

void check(const Outcome& outcome) {
  EXPECT_GE(outcome.status, 0);
  EXPECT_LE(outcome.status, 2);
  EXPECT_TRUE(speaks_to_users(outcome.messages)) << outcome.messages;
  EXPECT_EQ(outcome.output.find("nan%"), std::string::npos) << outcome.output;
  if (outcome.status == 0 || outcome.command == "batch" || outcome.command == "embed" ||
      outcome.command == "index")
    return;
  // Failed images of --json say why in the document, failed rows in their file.
  const bool said = outcome.messages.starts_with("vit: ") && outcome.messages.size() > 20;
  const bool in_json = outcome.output.find("\"error\"") != std::string::npos;
  EXPECT_TRUE(said || in_json) << "exit " << outcome.status << " without a reason";
}

size_t number_in(const char* variable, size_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(RandomModels, EveryCommandAnswersOrSaysWhyNot) {
  prepare_last_words();
  const test::Folder images;
  test::write_random_images(images);
  const size_t first = number_in("VIT_RANDOM_SEED", number_in("VIT_RANDOM_FIRST", 0));
  const bool one = std::getenv("VIT_RANDOM_SEED") != nullptr;
  const size_t runs = one ? 1 : number_in("VIT_RANDOM_RUNS", 300);
  std::map<std::string, std::array<size_t, 3>> counts;
  for (size_t seed = first; seed < first + runs; ++seed) {
    for (const Outcome& outcome : run_seed(seed, images)) {
      SCOPED_TRACE(last_words.data() + outcome.command);
      check(outcome);
      if (one)
        std::printf("%s%s%s", last_words.data(), outcome.output.c_str(), outcome.messages.c_str());
      if (outcome.status >= 0 && outcome.status <= 2)
        ++counts[outcome.command][static_cast<size_t>(outcome.status)];
    }
  }
  for (const auto& [command, by_status] : counts)
    std::printf("%-10s exit 0: %zu, exit 1: %zu, exit 2: %zu\n", command.c_str(), by_status[0],
                by_status[1], by_status[2]);
}

}  // namespace
}  // namespace vit
