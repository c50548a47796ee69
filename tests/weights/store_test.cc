/// Where models are found by name: those copied by hand and those of Hugging Face's programs.
#include "weights/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "tests/support/folder.h"
#include "tests/support/message_of.h"
#include "tests/support/paths.h"
#include "vit/base/missing_download.h"

namespace vit::weights {
namespace {

namespace fs = std::filesystem;
using test::message_of;
using testing::ElementsAre;

constexpr const char* kVariables[] = {"VIT_HOME", "VIT_MODEL",      "HF_HUB_CACHE",
                                      "HF_HOME",  "XDG_CACHE_HOME", "HOME"};

/// Its own caches; restores the environment at the end.
class Store : public testing::Test {
 protected:
  Store() {
    for (const auto* name : kVariables)
      if (const char* value = std::getenv(name)) before_[name] = value;
    for (const auto* name : kVariables) unsetenv(name);
    setenv("HOME", folder_.path("home").c_str(), 1);
  }
  ~Store() override {
    for (const auto* name : kVariables) {
      unsetenv(name);
      if (before_.contains(name)) setenv(name, before_[name].c_str(), 1);
    }
  }

  /// A small model with its configuration, and the folder as find_model() gives it.
  std::string put_model(const std::string& place) const {
    const fs::path to = folder_.path(place), from = test::goldens() / "hf_vit";
    fs::create_directories(to);
    for (const auto* name : {"config.json", "preprocessor_config.json", "model.safetensors"})
      fs::copy_file(from / name, to / name);
    return to.string();
  }
  /// … in the cache of Hugging Face's programs.
  std::string put_snapshot(const std::string& cache, const std::string& repository) const {
    folder_.write(cache + "/" + repository + "/refs/main", "c0ffee");
    return put_model(cache + "/" + repository + "/snapshots/c0ffee");
  }

  test::Folder folder_;

 private:
  std::map<std::string, std::string> before_;
};

TEST_F(Store, FindsModelsThatWereCopiedByHand) {
  const std::string models = "home/.cache/vit/models/";
  const std::string known = put_model(models + "timm/deit_tiny_patch16_224.fb_in1k");
  EXPECT_EQ(find_model("deit_tiny_patch16_224"), known);
  EXPECT_EQ(find_model("timm/deit_tiny_patch16_224.fb_in1k"), known);
  const std::string other = put_model(models + "me/mine@v2");
  EXPECT_EQ(find_model("me/mine@v2"), other);
  EXPECT_EQ(find_model("plain"), "plain") << "not there yet";
  const std::string plain = put_model(models + "plain");
  EXPECT_EQ(find_model("plain"), plain);
  const std::string file = folder_.write(models + "single.safetensors", "x");
  EXPECT_EQ(find_model("single"), file);
  EXPECT_EQ(find_model("single.safetensors"), file);

  const auto listed = pulled_models();
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0].hub, "me/mine");
  EXPECT_EQ(listed[0].revision, "v2");
  EXPECT_EQ(listed[1].hub, "timm/deit_tiny_patch16_224.fb_in1k");
  EXPECT_EQ(listed[1].folder, known);
  EXPECT_EQ(listed[1].bytes(), fs::file_size(known + "/config.json") +
                                   fs::file_size(known + "/preprocessor_config.json") +
                                   fs::file_size(known + "/model.safetensors"));
}

TEST_F(Store, DoesNotTakeUnfinishedFoldersForModels) {
  const std::string place = put_model("home/.cache/vit/models/me/mine");
  const std::string message = "me/mine: no such file or folder, and not pulled";
  const auto refusal = [] { return message_of([] { find_model("me/mine"); }); };
  fs::rename(place + "/model.safetensors", place + "/model.safetensors.part");
  EXPECT_EQ(refusal(), message) << "a download that was stopped";
  fs::rename(place + "/model.safetensors.part", place + "/model-1.safetensors");
  folder_.write("home/.cache/vit/models/me/mine/model.safetensors.index.json",
                R"({"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}})");
  EXPECT_EQ(refusal(), message) << "a shard is missing";
  fs::copy_file(place + "/model-1.safetensors", place + "/model-2.safetensors");
  EXPECT_EQ(find_model("me/mine"), place);
}

TEST_F(Store, SaysWhatADownloadWouldBring) {
  const auto missing = [](const std::string& name) {
    try {
      find_model(name);
    } catch (const MissingDownload& error) {
      EXPECT_EQ(error.with_advice("!"), error.what() + std::string("!"));
      EXPECT_EQ(error.where(), name);
      return error.wanted();
    }
    return Download{};
  };
  EXPECT_EQ(missing("deit_tiny_patch16_224").kind, Download::Kind::kKnownModel);
  EXPECT_EQ(missing("deit_tiny_patch16_224").name, "deit_tiny_patch16_224");
  EXPECT_EQ(missing("me/mine").kind, Download::Kind::kHubModel);
  EXPECT_EQ(missing("me/mine").revision, "");
  EXPECT_EQ(missing("me/mine@v2").name, "me/mine");
  EXPECT_EQ(missing("me/mine@v2").revision, "v2");
  setenv("VIT_MODEL", "me/mine", 1);
  try {
    find_model("");
    FAIL() << "found";
  } catch (const MissingDownload& error) {
    EXPECT_EQ(error.with_advice("; A"),
              "me/mine: no such file or folder, and not pulled; A (the variable VIT_MODEL names "
              "this model)");
  }
  unsetenv("VIT_MODEL");
}

TEST_F(Store, SearchesTheCacheOfHuggingFacesPrograms) {
  const std::string base = "models--google--vit-base-patch16-224";
  for (const auto& [variable, value, cache] :
       std::vector<std::array<std::string, 3>>{{"HOME", "home", "home/.cache/huggingface/hub"},
                                               {"XDG_CACHE_HOME", "xdg", "xdg/huggingface/hub"},
                                               {"HF_HOME", "hf", "hf/hub"},
                                               {"HF_HUB_CACHE", "cache", "cache"}}) {
    setenv(variable.c_str(), folder_.path(value).c_str(), 1);
    const std::string found = put_snapshot(cache, base);
    EXPECT_EQ(find_model("google/vit-base-patch16-224"), found) << variable;
    EXPECT_EQ(find_model("vit-base-patch16-224"), found) << "the catalogue's short name";
    EXPECT_EQ(find_model("google/vit-base-patch16-224@c0ffee"), found) << "a commit";
  }
  put_snapshot("cache", "models--someone--llama");
  const auto listed = pulled_models();
  ASSERT_EQ(listed.size(), 1u) << "only those that the catalogue has";
  EXPECT_EQ(listed[0].hub, "google/vit-base-patch16-224");
  EXPECT_EQ(find_model("someone/llama"),
            folder_.path("cache/models--someone--llama/snapshots/c0ffee"));
  const std::string own = put_model("xdg/vit/models/google/vit-base-patch16-224");
  EXPECT_EQ(find_model("google/vit-base-patch16-224"), own) << "the own cache comes first";
}

TEST_F(Store, NeedsTheConfigurationBesideCachedWeights) {
  const std::string found = put_snapshot("home/.cache/huggingface/hub", "models--me--mine");
  EXPECT_EQ(find_model("me/mine"), found);
  fs::remove(found + "/config.json");
  EXPECT_NE(message_of([] { find_model("me/mine"); }), "no error");
  EXPECT_NE(message_of([] { find_model("me/mine@../../../home"); }), "no error");
}

TEST_F(Store, SaysThatTheVariableNamesAModelThatIsNotThere) {
  setenv("VIT_MODEL", folder_.path("gone.safetensors").c_str(), 1);
  EXPECT_EQ(message_of([] { find_model(""); }),
            folder_.path("gone.safetensors") +
                ": no such file, folder or pulled model; the variable VIT_MODEL names it");
  setenv("VIT_MODEL", "me/mine", 1);
  EXPECT_EQ(
      message_of([] { find_model(""); }),
      "me/mine: no such file or folder, and not pulled (the variable VIT_MODEL names this model)");
  setenv("VIT_MODEL", put_model("m").c_str(), 1);
  EXPECT_EQ(find_model(""), folder_.path("m"));
}

}  // namespace
}  // namespace vit::weights
