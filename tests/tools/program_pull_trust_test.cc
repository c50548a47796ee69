// What vit pull trusts, what it reports, and to whom it sends the token.
#include <gmock/gmock.h>

#include "tests/tools/pull_fixture.h"

namespace vit::tools {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

/// What `vit pull` says of one file.
std::string said_of(const std::string& file, const Finished& finished) {
  const size_t at = finished.out.find("  " + file + " ");
  return finished.out.substr(at, finished.out.find('\n', at) - at);
}

TEST_F(Pull, SaysVerifiedOnlyOfWhatItHashed) {
  const Finished finished = pull();
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(said_of("config.json", finished), HasSubstr(", git sha1 verified"));
  EXPECT_THAT(said_of("model.safetensors", finished), HasSubstr(", sha256 verified"));
}

TEST_F(Pull, SaysThatAFileWithoutAHashIsNotVerified) {
  hub.promised_hash = std::string(64, 'x');  // as long as a sha256, but none
  hub.small_etag = std::string(40, 'y');
  const Finished finished = pull();
  ASSERT_EQ(finished.status, 0) << finished.err;
  for (const auto* file : {"config.json", "model.safetensors"})
    EXPECT_THAT(said_of(file, finished),
                testing::EndsWith(", not verified: no hash given by the server"));
  EXPECT_THAT(finished.out, Not(HasSubstr("sha")));
}

TEST_F(Pull, VerifiesASmallFileOfUnknownLength) {
  hub.large_files.clear();
  hub.lengths = false;
  const std::string truth = git_sha1_of(hub.small_files["config.json"]);
  hub.sent_instead = "tampered";
  expect_refusal(pull(), "config.json: its git sha1 is " + git_sha1_of("tampered") +
                             ", the hub stated " + truth + "; the bad file was removed, try again");
  EXPECT_THAT(files(), testing::IsEmpty());
}

TEST_F(Pull, AHashInCapitalsIsTheSameHash) {
  std::string hash = sha256_of(weights());
  for (char& c : hash) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  hub.promised_hash = hash;
  const Finished finished = pull();
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(said_of("model.safetensors", finished), HasSubstr(", sha256 verified"));
}

TEST_F(Pull, ASmallFileIsNeverLarge) {
  hub.sent_instead = std::string((16 << 20) + 1, 'x');
  for (const bool lengths : {true, false}) {
    hub.lengths = lengths;
    expect_refusal(pull(), "config.json: is larger than 16 MB, which no such file is");
    EXPECT_THAT(files(), testing::IsEmpty());
  }
}

TEST_F(Pull, WeightsOfUnknownSizeAreNotFetched) {
  hub.lengths = false;
  expect_refusal(pull(),
                 "model.safetensors: the server states no size, so it could fill the disk; not "
                 "fetched");
  EXPECT_THAT(files(), UnorderedElementsAre("config.json", "preprocessor_config.json"));
}

TEST_F(Pull, AListOfFilesHasALimit) {
  hub.large_files.clear();
  hub.small_files.clear();
  hub.large_files["weights/" + std::string(2 << 20, 'n')] = "";
  expect_refusal(pull(), kName + ": its list of files has more than 1 MB");
}

/// `address` in place of the hub's own.
Finished pull_from(const std::string& address, std::vector<std::string> environment) {
  Call call;
  call.arguments = {"pull", kName};
  environment.push_back("HF_ENDPOINT=" + address);
  call.environment = std::move(environment);
  return run(call);
}

TEST_F(Pull, APasswordInTheAddressIsNeverShown) {
  const std::string host = hub.address().substr(std::string("http://").size());
  const std::string address = "http://user:pass%40word@" + host;
  const Finished fetched = pull_from(address, environment());
  EXPECT_EQ(fetched.status, 0) << fetched.err;
  EXPECT_THAT(fetched.out + fetched.err, Not(HasSubstr("word")));

  hub.refusal = HttpReply{.status = 404, .headers = {{"X-Error-Code", "RepoNotFound"}}};
  const Finished refused = pull_from(address, environment());
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("check the name at " + hub.address() + "/" + kName),
                                 Not(HasSubstr("user")), Not(HasSubstr("word"))));
  EXPECT_EQ(pull_from("user:password@hub.example/", environment()).err,
            "vit: HF_ENDPOINT is 'hub.example', expected a web address such as "
            "https://huggingface.co\n");
  for (const auto* bad : {"http://user:password@127.0.0.1:1", "http://user:password@[::1/x",
                          "ftp://user:password@hub.example"}) {
    const Finished finished = pull_from(bad, environment());
    EXPECT_EQ(finished.status, 1) << bad;
    EXPECT_THAT(finished.err, AllOf(Not(HasSubstr("user")), Not(HasSubstr("password")))) << bad;
  }
}

TEST_F(Pull, ATokenDoesNotTravelUnencrypted) {
  EXPECT_EQ(pull_from("http://user:password@hub.example:8080", environment()).err,
            "vit: HF_TOKEN would go to http://hub.example:8080 unencrypted, where others can read "
            "it; set HF_ENDPOINT to an https address, or unset HF_TOKEN\n");
  // Without a token, or to this machine, it is allowed.
  auto without = environment();
  without.push_back("HF_TOKEN=");
  EXPECT_EQ(pull_from(hub.address(), without).status, 0);
  EXPECT_EQ(pull().status, 0);
}

}  // namespace
}  // namespace vit::tools
