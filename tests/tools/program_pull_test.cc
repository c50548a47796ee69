#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/paths.h"
#include "tests/tools/pull_fixture.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

TEST_F(Pull, FetchesAModelThatEveryCommandFinds) {
  const Finished finished = pull();
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  EXPECT_THAT(finished.out, AllOf(HasSubstr("model.safetensors"), HasSubstr("sha256 verified"),
                                  HasSubstr("git sha1 verified"),
                                  HasSubstr("done: vit classify -m owner/tiny IMAGE\n")));
  EXPECT_THAT(files(), UnorderedElementsAre("config.json", "preprocessor_config.json",
                                            "model.safetensors", ".pulled.json"));
  EXPECT_EQ(read_file(file("model.safetensors")), weights());

  const std::string image = golden_image("hf_vit");
  const Finished pulled = vit({"classify", "-m", kName, "--json", image});
  EXPECT_EQ(pulled.status, 0) << pulled.err;
  EXPECT_EQ(pulled.out, vit({"classify", "-m", golden("hf_vit"), "--json", image}).out);
  EXPECT_EQ(vit({"info", kName}).status, 0);
  EXPECT_THAT(vit({"models", "--pulled"}).out, HasSubstr("owner/tiny"));
}

TEST_F(Pull, FetchesNothingTwice) {
  ASSERT_EQ(pull().status, 0);
  hub.forget_requests();
  const Finished again = pull();
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.out, AllOf(HasSubstr("is up to date"), Not(HasSubstr("verified"))));
  EXPECT_THAT(hub.store_requests(), IsEmpty());
  for (const auto& request : hub.hub_requests()) EXPECT_EQ(request.method, "HEAD");
}

TEST_F(Pull, FetchesWhatChangedOnTheHub) {
  ASSERT_EQ(pull().status, 0);
  hub.large_files["model.safetensors"] = "other";
  ASSERT_EQ(pull().status, 0);
  EXPECT_EQ(read_file(file("model.safetensors")), "other");
}

TEST_F(Pull, TakesAllFilesFromOneCommit) {
  hub.commit = "0123abcd";
  ASSERT_EQ(pull().status, 0);
  const auto requests = hub.hub_requests();
  EXPECT_EQ(requests.at(0).path, "/owner/tiny/resolve/main/config.json");
  EXPECT_EQ(requests.back().path, "/owner/tiny/resolve/0123abcd/model.safetensors");
  EXPECT_EQ(nlohmann::json::parse(read_file(file(".pulled.json")))["commit"], "0123abcd");
}

TEST_F(Pull, KnowsTheCataloguesNames) {
  hub.repository = "timm/deit_tiny_patch16_224.fb_in1k";
  const std::string image = golden_image("hf_vit");
  expect_refusal(vit({"classify", "-m", "deit_tiny_patch16_224", image}),
                 "deit_tiny_patch16_224: is not pulled yet: vit pull deit_tiny_patch16_224");
  ASSERT_EQ(pull("deit_tiny_patch16_224").status, 0);
  for (const auto* name : {"deit_tiny_patch16_224", "deit_tiny_patch16_224.fb_in1k",
                           "timm/deit_tiny_patch16_224.fb_in1k"})
    EXPECT_EQ(vit({"classify", "-m", name, image}).status, 0) << name;
}

TEST_F(Pull, NamesTheModelThatWasMeant) {
  expect_refusal(pull("deit_tiny_patch16_22"),
                 "unknown model 'deit_tiny_patch16_22', did you mean "
                 "'deit_tiny_patch16_224'? 'vit models' lists the known ones, OWNER/NAME "
                 "fetches any repository of the hub");
  expect_refusal(pull("deit_tiny"),
                 "unknown model 'deit_tiny', did you mean 'deit_tiny_patch16_224'? 'vit models' "
                 "lists the known ones, OWNER/NAME fetches any repository of the hub");
  expect_refusal(pull("swin_tiny_patch4_window7_224"),
                 "'swin_tiny_patch4_window7_224' is a Swin Transformer (attention in shifted "
                 "windows, patches merged between stages), which is not supported; a supported "
                 "model close to it is deit3_base_patch16_224.fb_in22k_ft_in1k");
  const Finished several = pull("vit_tiny_patch16_224");
  EXPECT_EQ(several.status, 1);
  EXPECT_THAT(several.err, HasSubstr("name one of them:\n  vit_tiny_patch16_224.augreg_in21k\n"));
  EXPECT_THAT(hub.hub_requests(), IsEmpty());
}

TEST_F(Pull, ResumesABrokenDownloadInTheSameRun) {
  hub.interludes = {{.status = 200, .headers = {}, .body = {}, .cut_after = 1000}};
  const Finished finished = pull();
  EXPECT_EQ(finished.status, 0) << finished.err;
  ASSERT_EQ(hub.store_requests().size(), 2u);
  EXPECT_EQ(hub.store_requests()[0].header("range"), "");
  EXPECT_EQ(hub.store_requests()[1].header("range"), "bytes=1000-");
  EXPECT_EQ(read_file(file("model.safetensors")), weights());
}

TEST_F(Pull, ResumesABrokenDownloadInALaterRun) {
  cut_after(1000);
  expect_refusal(pull(), kName + ": cannot fetch model.safetensors: the server says 403");
  EXPECT_EQ(read_file(file("model.safetensors.part")), weights().substr(0, 1000));
  EXPECT_EQ(read_file(file("model.safetensors.part.etag")), sha256_of(weights()));
  EXPECT_EQ(vit({"info", kName}).status, 1) << "half a model was found";
  hub.forget_requests();
  const Finished later = pull();
  EXPECT_EQ(later.status, 0) << later.err;
  ASSERT_EQ(hub.store_requests().size(), 1u);
  EXPECT_EQ(hub.store_requests()[0].header("range"), "bytes=1000-");
  EXPECT_EQ(read_file(file("model.safetensors")), weights());
  EXPECT_THAT(files(), Not(testing::Contains(HasSubstr("part"))));
}

TEST_F(Pull, StartsAgainWhereTheServerKnowsNoRanges) {
  cut_after(1000);
  ASSERT_EQ(pull().status, 1);
  hub.ranges = false;
  const Finished finished = pull();
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(read_file(file("model.safetensors")), weights());
}

TEST_F(Pull, StartsAgainWhenTheHubHasAnotherFileByNow) {
  cut_after(1000);
  ASSERT_EQ(pull().status, 1);
  hub.large_files["model.safetensors"] = "other";
  hub.forget_requests();
  EXPECT_EQ(pull().status, 0);
  EXPECT_EQ(hub.store_requests().at(0).header("range"), "");
  EXPECT_EQ(read_file(file("model.safetensors")), "other");
}

TEST_F(Pull, RemovesAFileOfTheWrongHash) {
  const std::string other(64, 'a');
  hub.promised_hash = other;
  expect_refusal(pull(), "model.safetensors: its sha256 is " + sha256_of(weights()) +
                             ", the hub stated " + other + "; the bad file was removed, try again");
  EXPECT_THAT(files(), UnorderedElementsAre("config.json", "preprocessor_config.json"));
}

TEST_F(Pull, RemovesAFileOfTheWrongSize) {
  hub.promised_size = weights().size() + 1;
  expect_refusal(pull(), "model.safetensors: is " + std::to_string(weights().size()) +
                             " bytes, the hub stated " + std::to_string(weights().size() + 1) +
                             "; the bad file was removed, try again");
  hub.promised_size = 10;
  expect_refusal(pull(),
                 "model.safetensors: the server sends more than the 10 bytes that the hub "
                 "stated; the bad file was removed");
  EXPECT_THAT(files(), UnorderedElementsAre("config.json", "preprocessor_config.json"));
}

TEST_F(Pull, SaysWhatToDoWhenTheHubRefuses) {
  const auto refused = [&](int status, const std::string& code) {
    hub.refusal = HttpReply{.status = status, .headers = {{"X-Error-Code", code}}, .body = "no"};
    return pull();
  };
  const std::string home_page = hub.address() + "/" + kName;
  for (const int status : {401, 404})
    expect_refusal(refused(status, "RepoNotFound"),
                   kName + ": no such repository, or a private one: the hub says " +
                       std::to_string(status) + " (RepoNotFound); check the name at " + home_page +
                       "; HF_TOKEN gives no access to it");
  expect_refusal(refused(403, "GatedRepo"),
                 kName + ": may not be read, the hub says 403 (GatedRepo); accept its licence at " +
                     home_page + " with the account of HF_TOKEN");
  expect_refusal(
      refused(404, "RevisionNotFound"),
      kName + ": has no revision 'main' (the hub says 404 (RevisionNotFound)); see " + home_page);
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(Pull, RefusesAFamilyThatIsNotSupportedBeforeItsWeights) {
  hub.small_files["config.json"] = R"({"model_type": "swin"})";
  expect_refusal(pull(), kName +
                             ": 'swin' is a Swin Transformer (attention in shifted windows, "
                             "patches merged between stages), which is not supported; a supported "
                             "model close to it is deit3_base_patch16_224.fb_in22k_ft_in1k");
  EXPECT_THAT(hub.store_requests(), IsEmpty());
  EXPECT_FALSE(fs::exists(folder()));
  hub.forget_requests();
  EXPECT_THAT(pull("timm/swin_tiny_patch4_window7_224.ms_in1k").err,
              HasSubstr("swin_tiny_patch4_window7_224.ms_in1k' is a Swin Transformer"));
  EXPECT_THAT(hub.hub_requests(), IsEmpty());
}

TEST_F(Pull, SaysThatThereAreNoWeights) {
  hub.large_files.clear();
  expect_refusal(pull(), kName +
                             ": holds no weights that this toolkit reads (safetensors, "
                             "PyTorch, NumPy, GGUF)");
}

TEST_F(Pull, SendsTheTokenOnlyToTheHub) {
  ASSERT_EQ(pull().status, 0);
  for (const auto& request : hub.hub_requests())
    EXPECT_EQ(request.header("authorization"), "Bearer secret") << request.path;
  ASSERT_THAT(hub.store_requests(), testing::SizeIs(1));
  EXPECT_EQ(hub.store_requests()[0].headers.count("authorization"), 0u);
}

TEST_F(Pull, FetchesEveryShardOnce) {
  hub.large_files = {{"a.safetensors", "first"}, {"b.safetensors", "second"}};
  hub.small_files["model.safetensors.index.json"] =
      R"({"weight_map": {"x": "a.safetensors", "y": "b.safetensors", "z": "a.safetensors"}})";
  const Finished finished = pull();
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(read_file(file("a.safetensors")) + read_file(file("b.safetensors")), "firstsecond");
  EXPECT_THAT(hub.store_requests(), testing::SizeIs(2));
}

TEST_F(Pull, WritesNoShardOutsideItsFolder) {
  hub.large_files.clear();
  hub.small_files["model.safetensors.index.json"] = R"({"weight_map": {"x": "../../evil"}})";
  expect_refusal(pull(), kName + ": model.safetensors.index.json names the shard \"../../evil\"");
}

TEST_F(Pull, TakesTheOnlyWeightFileOfAnUnusualName) {
  hub.small_files.clear();
  hub.large_files = {{"ViT-B_16.npz", "numbers"}, {"README.md", "text"}};
  ASSERT_EQ(pull().status, 0);
  EXPECT_THAT(files(), UnorderedElementsAre("ViT-B_16.npz", ".pulled.json"));
  hub.large_files["other.npz"] = "";
  expect_refusal(pull(), kName +
                             ": holds several weight files, fetch one by hand: ViT-B_16.npz, "
                             "other.npz");
}

TEST_F(Pull, SendsNoRequestOffline) {
  const std::string message = kName +
                              ": is not in the cache, and nothing is fetched offline "
                              "(--offline or HF_HUB_OFFLINE); -m also takes a folder that was "
                              "copied from another machine";
  expect_refusal(vit({"pull", "--offline", kName}), message);
  offline = "1";
  expect_refusal(pull(), message);
  EXPECT_THAT(hub.hub_requests(), IsEmpty());
  offline = "";
  ASSERT_EQ(pull().status, 0);
  offline = "TRUE";
  hub.forget_requests();
  EXPECT_EQ(pull().out, kName + " is in " + folder() + "\n");
  EXPECT_THAT(hub.hub_requests(), IsEmpty());
}

TEST_F(Pull, SaysThatTheHubCannotBeReached) {
  Call call;
  call.arguments = {"pull", kName};
  call.environment = environment();
  call.environment.push_back("HF_ENDPOINT=http://127.0.0.1:1");
  const Finished finished = run(call);
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err,
              AllOf(HasSubstr("vit: http://127.0.0.1:1: cannot be reached: "),
                    HasSubstr("check the network, the proxy variables and HF_ENDPOINT")));
  call.environment.back() = "HF_ENDPOINT=hub.example";
  EXPECT_EQ(run(call).err,
            "vit: HF_ENDPOINT is 'hub.example', expected a web address such as "
            "https://huggingface.co\n");
}

TEST_F(Pull, KeepsTheReceivedPartWhenItIsInterrupted) {
  hub.interludes = {{.status = 200, .headers = {}, .body = {}, .cut_after = 5000, .stall = true}};
  const pid_t child = fork();
  if (child == 0) {
    for (const auto& entry : environment()) putenv(strdup(entry.c_str()));
    execl(test::program(), "vit", "pull", kName.c_str(), nullptr);
    _exit(127);
  }
  for (int i = 0; i < 500; ++i) {
    std::error_code ignored;
    if (hub.stalled() && fs::file_size(file("model.safetensors.part"), ignored) == 5000) break;
    usleep(20'000);
  }
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(read_file(file("model.safetensors.part")), weights().substr(0, 5000));
  hub.forget_requests();
  EXPECT_EQ(pull().status, 0);
  EXPECT_EQ(hub.store_requests().at(0).header("range"), "bytes=5000-");
}

TEST_F(Pull, FetchesNothingThatDoesNotFit) {
  fs::create_directories(home.path("models"));
  if (mount("tmpfs", home.path("models").c_str(), "tmpfs", 0, "size=128k") != 0)
    GTEST_SKIP() << "a file system of its own needs root";
  const Finished finished = pull();
  const bool store_asked = !hub.store_requests().empty();
  const auto left = files();
  umount(home.path("models").c_str());
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, AllOf(HasSubstr(": not enough space for model.safetensors: it needs "),
                                  HasSubstr("free some or set VIT_HOME to another disk")));
  EXPECT_FALSE(store_asked);
  EXPECT_THAT(left, UnorderedElementsAre("config.json", "preprocessor_config.json"));
}

TEST_F(Pull, FindsTheRevisionThatWasPulled) {
  hub.refusal.reset();
  const Finished finished = vit({"pull", kName, "--revision", "v2"});
  EXPECT_EQ(finished.status, 1);  // this hub has main alone
  EXPECT_THAT(hub.hub_requests().at(0).path, "/owner/tiny/resolve/v2/config.json");
  fs::create_directories(folder(kName + "@v2"));
  fs::copy(golden("hf_vit"), folder(kName + "@v2"));
  home.write("models/owner/tiny@v2/.pulled.json",
             R"({"hub": "owner/tiny", "revision": "v2", "commit": "", "files": {}})");
  EXPECT_EQ(vit({"info", "owner/tiny@v2"}).status, 0);
  expect_refusal(vit({"info", "owner/tiny@v3"}),
                 "owner/tiny@v3: no such file or folder, and not pulled; if the hub has it: vit "
                 "pull owner/tiny (revision v3)");
}

TEST(PullUsage, SaysWhatIsExpected) {
  const Finished none = run({"pull"});
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(none.err,
            "vit: no name given, expected one: a short name that 'vit models' lists, or "
            "OWNER/NAME on the hub\nvit: see 'vit pull --help'\n");
  EXPECT_THAT(run({"pull", "--help"}).out, AllOf(HasSubstr("HF_TOKEN"), HasSubstr("--revision")));
}

}  // namespace
}  // namespace vit::tools
