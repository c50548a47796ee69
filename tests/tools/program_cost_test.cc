// The cost of opening a file: a bad one a second and 100 MB, a good one little more than
// its own size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "tests/support/paths.h"
#include "tests/support/random_checkpoint.h"
#include "tests/tools/subprocess.h"
#include "tests/weights/gguf_files.h"
#include "tests/weights/support.h"
#include "tests/weights/truth.h"
#include "weights/configs/self_description.h"
#include "weights/known/architectures.h"
#include "weights/save.h"
#include "weights/tensor_list.h"

namespace vit::tools {
namespace {

namespace files = weights::test;
namespace pickle = weights::test::pickle;
using testing::HasSubstr;

constexpr size_t kMegabyte = 1'000'000;

/// Makes a file in another process: memory that this one holds when it starts the program would
/// count as the program's.
template <typename Make>
std::string made(const Folder& folder, const std::string& name, const Make& make) {
  const pid_t child = fork();
  if (child == 0) {
    folder.write(name, make());
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "cannot make " << name;
  return folder.path(name);
}

/// `file` is refused by name and at little cost, which is higher with sanitizers.
void expect_cheap_refusal(const std::string& file, const std::string& reason) {
  const Finished finished = run({"info", file});
  EXPECT_EQ(finished.status, 1) << file;
  EXPECT_THAT(finished.err, HasSubstr(std::filesystem::path(file).filename().string()));
  EXPECT_THAT(finished.err, HasSubstr(reason));
  EXPECT_LT(finished.err.size(), 2000u) << finished.err.substr(0, 400);
  EXPECT_LT(finished.seconds, files::Stopwatch::kLimit) << file;
#ifndef __SANITIZE_ADDRESS__
  EXPECT_LT(finished.peak_bytes, 100 * kMegabyte) << file;
#endif
}

std::string repeated(size_t count, const auto& piece) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += piece(i);
  return text;
}

std::string pth(const std::string& content) {
  return files::zip(
      {{"m/data.pkl", pickle::whole(content), false}, {"m/data/0", std::string(24, '\0'), false}});
}

TEST(Hostile, SafetensorsHeaders) {
  const Folder folder;
  const auto expect = [&](const std::string& reason, const auto& header) {
    expect_cheap_refusal(
        made(folder, "m.safetensors", [&] { return files::safetensors(header(), ""); }), reason);
  };
  expect("not a JSON object", [] { return std::string(9'000'000, '['); });
  expect("header entry 'x' is a list", [] { return "{\"x\":" + std::string(9'000'000, '['); });
  expect("is one of more than 100000 tensors", [] {
    return "{" +
           repeated(120'000,
                    [](size_t i) {
                      return "\"" + std::to_string(i) +
                             R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},)";
                    }) +
           R"("x":{}})";
  });
  expect("has a name of 9000000 bytes",
         [] { return "{\"" + std::string(9'000'000, 'x') + "\":{}}"; });
  expect("cut short", [] {
    return std::string(
        R"({"x":{"dtype":"F32","shape":[1048576,1048576],"data_offsets":[0,4398046511104]}})");
  });
}

TEST(Hostile, Pickles) {
  const Folder folder;
  const auto expect = [&](const std::string& reason, const auto& content) {
    expect_cheap_refusal(made(folder, "m.pth", [&] { return pth(content()); }), reason);
  };
  expect("asks Python to run os.system", [] {
    return pickle::global("os", "system") + pickle::tuple({pickle::text("touch owned")}) + "R";
  });
  expect("its pickle", [] {
    return repeated(300'000, [](size_t) { return "}" + pickle::text("k"); }) + "N" +
           std::string(300'000, 's');
  });
  const std::string memory = "its pickle takes more memory than any weight file's";
  expect("takes from an empty stack", [] { return std::string(3'000'000, '('); });
  expect(memory, [] { return std::string(3'000'000, ']'); });
  expect(memory,
         [] { return "](" + repeated(1'000'000, [](size_t) { return std::string("]"); }) + "e"; });
  expect("not text", [] {  // a text that doubles with each step
    return pickle::global("a", "b") + "q\x01" +
           repeated(40, [](size_t) { return std::string("h\x01h\x01\x93q\x01"); });
  });
  expect(memory, [] {  // dictionaries of a long list of no pairs, over and over
    const std::string call = pickle::global("collections", "OrderedDict") + "h\x01\x85R0";
    return "](" + std::string(1'000'000, 'N') + "eq\x01" +
           repeated(1000, [&](size_t) { return call; });
  });
  expect("the names in its pickle take more than 24 MB", [] {
    std::string content = pickle::tensor({"0", 6, 0, {6}, {1}}) + "q\x01";
    for (char level = 1; level <= 16; ++level) {
      const std::string before(1, level), after(1, static_cast<char>(level + 1)), key(198, 'k');
      content += "}q" + after + "(" + pickle::text(key + "a") + "h" + before +
                 pickle::text(key + "b") + "h" + before + "u";
    }
    return content;
  });
  expect("m.pth: ", [] { return "}q\x01" + pickle::text("me") + "h\x01s"; });
  expect("m.pth: ", [] {
    return repeated(1900, [](size_t) { return pickle::text(std::string(16'000, 'x')) + "0"; }) +
           "}";
  });
}

TEST(Hostile, Archives) {
  const Folder folder;
  const auto zeros = [](size_t bytes) {
    return files::npy("<f4", "False", "(" + std::to_string(bytes / 4) + ",)",
                      std::string(bytes, '\0'));
  };
  const auto expect = [&](const std::string& name, const auto& make) {
    expect_cheap_refusal(made(folder, name, make), "would inflate the archive of");
  };
  expect("bomb.npz", [&] { return files::zip({{"a.npy", zeros(64 << 20), true}}); });
  expect("many.npz", [&] {  // each entry alone is small enough
    std::vector<files::Zipped> entries;
    for (int i = 0; i < 12; ++i)
      entries.push_back({std::to_string(i) + ".npy", zeros(4 << 20), true});
    return files::zip(entries);
  });
  expect("bomb.pth", [] { return files::zip({{"m/data.pkl", std::string(40 << 20, '('), true}}); });
}

TEST(Hostile, Ggml) {
  using namespace files::ggml;
  const Folder folder;
  const auto expect = [&](const std::string& name, const std::string& reason, const auto& make) {
    expect_cheap_refusal(made(folder, name, make), reason);
  };
  const std::string start = "GGUF" + u32(3);
  expect("names.gguf", "a name of 60001 bytes", [&] {
    return start + u64(0) + u64(10'000) +
           repeated(900, [](size_t) { return text(std::string(60'001, 'x')) + u32(4) + u32(1); });
  });
  expect("lists.gguf", "lists.gguf: ", [&] {
    return start + u64(0) + u64(100) + repeated(100, [](size_t i) {
             return text(std::to_string(i)) + u32(9) + u32(0) + u64(25'000) +
                    std::string(25'000, '1');
           });
  });
  expect("tensors.gguf", "tensors.gguf: ", [&] {
    return start + u64(100'000) + u64(0) + repeated(100'000, [](size_t i) {
             return text(std::to_string(i)) + u32(1) + u64(0) + u32(0) + u64(0);
           });
  });
  expect("labels.bin", "labels.bin: ", [&] {
    return "lmgg" + std::string(28, '\0') + u32(100'000) + repeated(100'000, [](size_t i) {
             return u32(static_cast<std::uint32_t>(i)) + u32(50) + std::string(50, 'x');
           });
  });
}

/// The smallest model that describes itself, with other metadata.
std::string self_described(const std::function<void(nlohmann::json& config)>& change,
                           const std::string& labels = "[]") {
  nlohmann::json metadata = weights::self_description({});
  auto config = nlohmann::json::parse(metadata.at("vit.config").get<std::string>());
  change(config);
  metadata["vit.config"] = config.dump();
  metadata["vit.labels"] = labels;
  const nlohmann::json header{{"__metadata__", metadata}};
  return files::safetensors(header.dump(), "");
}

TEST(Hostile, SelfDescriptions) {
  const Folder folder;
  const auto expect = [&](const std::string& reason, const auto& make) {
    expect_cheap_refusal(made(folder, "m.safetensors", make), reason);
  };
  expect("4096 layers of 4096 branches, at most 4096 branches in all", [] {
    return self_described([](auto& config) { config["depth"] = config["branches"] = 4096; });
  });
  expect("tensor 'patch_embed.proj.weight' is missing", [] {
    return self_described([](auto& config) {
      config["depth"] = 64;
      config["branches"] = 64;
    });
  });
  expect("metadata 'vit.labels': JSON nested more than 64 deep", [] {
    return self_described([](auto&) {}, std::string(4'000'000, '[') + std::string(4'000'000, ']'));
  });
  expect("metadata 'vit.labels': JSON of more than 500000 values", [] {
    return self_described([](auto&) {}, "[\"\"" + repeated(1'500'000, [](size_t) {
                                          return std::string(",\"\"");
                                        }) + "]");
  });
}

TEST(Hostile, Configs) {
  const Folder folder;
  folder.write("tensors/model.safetensors",
               files::safetensors({{"cls_token", files::numbered({1, 1, 8})}}));
  const auto expect = [&](const std::string& reason, const auto& make) {
    made(folder, "tensors/config.json", make);
    expect_cheap_refusal(folder.path("tensors"), reason);
  };
  expect("tensors", [] {
    return "{\"architecture\":" + std::string(4'000'000, '[') + std::string(4'000'000, ']') + "}";
  });
  expect("tensors", [] { return std::string(17'000'000, ' '); });
  folder.write("labels/model.safetensors",
               files::safetensors(files::truth_of(files::tiny_config())));
  const auto expect_labels = [&](const std::string& reason, size_t count) {
    made(folder, "labels/config.json", [&] {
      return R"({"architecture":"vit_tiny_patch16_224","label_names":["a")" +
             repeated(count, [](size_t) { return std::string(",\"a\""); }) + "]}";
    });
    expect_cheap_refusal(folder.path("labels"), reason);
  };
  expect_labels("labels/config.json: JSON of more than 500000 values", 4'000'000);
  expect_labels("labels: tensor 'p", 400'000);
}

TEST(Hostile, TensorsThatShareTheirBytes) {
  const Folder folder;
  const std::string file = made(folder, "m.pth", [] {
    std::vector<std::pair<std::string, std::string>> items;
    ModelConfig config = weights::config_of("vit_base_patch16_224");
    for (const auto& spec : weights::tensors_of(config))
      items.emplace_back(spec.name, pickle::tensor({"0", 6, 0, spec.shape,
                                                    std::vector<size_t>(spec.shape.size(), 0)}));
    return pth(pickle::dict(items));
  });
  const Finished finished = run({"info", file, "--heads", "12"});
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, HasSubstr("m.pth: its tensors claim 86567656 numbers in a file of"));
}

TEST(Hostile, ModelFilesOfTheReviews) {
  const std::filesystem::path folder = test::shared() / "reviews" / "attacks";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "needs ../shared/reviews/attacks";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("pickle_") || name.starts_with("branches_"))
      expect_cheap_refusal(entry.path().string(), name);
  }
}

TEST(Cost, AModelTakesLittleMoreMemoryThanItsFile) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "sanitizers count otherwise";
#endif
  const Folder folder;
  const std::string model = made(folder, "m.safetensors", [&] {
    const std::string whole = folder.path("whole");
    weights::save(whole, test::random_checkpoint(weights::config_of("vit_small_patch16_224")));
    return read_file(whole);
  });
  const double size = static_cast<double>(std::filesystem::file_size(model));
  const Finished finished = run({"classify", "-m", model, golden_image("timm_vit")});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_LT(static_cast<double>(finished.peak_bytes), 1.3 * size + 100.0 * kMegabyte);
}

}  // namespace
}  // namespace vit::tools
