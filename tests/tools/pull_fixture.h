/// A fake hub, and vit pull run against it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/tools/fake_hub.h"
#include "tests/tools/subprocess.h"

namespace vit::tools {

inline const std::string kName = "owner/tiny";

/// A hub with one model, an empty cache folder, and the program that uses both.
class Pull : public testing::Test {
 protected:
  Pull() : hub(kName) {
    for (const auto* name : {"config.json", "preprocessor_config.json"})
      hub.small_files[name] = read_file(golden("hf_vit") + "/" + name);
    hub.large_files["model.safetensors"] = weights();
  }

  static std::string weights() { return read_file(golden("hf_vit") + "/model.safetensors"); }

  std::vector<std::string> environment() const {
    return {"HF_ENDPOINT=" + hub.address(),
            "VIT_HOME=" + home.path(),
            "HF_HUB_CACHE=" + home.path("hub"),
            "HF_TOKEN=secret\n",
            "no_proxy=127.0.0.1",
            "HF_HUB_OFFLINE=" + offline};
  }
  Finished vit(const std::vector<std::string>& arguments) const {
    Call call;
    call.arguments = arguments;
    call.environment = environment();
    return run(call);
  }
  Finished pull(const std::string& name = kName) const { return vit({"pull", name}); }

  std::string folder(const std::string& name = kName) const { return home.path("models/" + name); }
  std::string file(const std::string& name) const { return folder() + "/" + name; }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder(), ignored))
      names.push_back(entry.path().filename().string());
    return names;
  }
  void expect_refusal(const Finished& finished, const std::string& message) const {
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(finished.err, "vit: " + message + "\n");
  }
  /// The first `bytes`, then the connection breaks; what follows is refused.
  void cut_after(size_t bytes) {
    hub.interludes = {{.status = 200, .headers = {}, .body = {}, .cut_after = bytes},
                      {.status = 403, .headers = {}, .body = {}}};
  }

  FakeHub hub;
  Folder home;
  std::string offline;
};

}  // namespace vit::tools
