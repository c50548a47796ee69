/// vit pull of models with a text tower: their tokenizer files, or CLIP's vocabulary if there are
/// none.
#include <gmock/gmock.h>

#include "tests/support/text_cases.h"
#include "tests/tools/pull_fixture.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

class PullWords : public Pull {
 protected:
  PullWords() {
    hub.small_files.clear();
    hub.large_files.clear();
  }
  /// The files of a case that has no tokenizer of its own, and a vocabulary at another address.
  void serve_open_clip(const std::string& config, const std::string& weights,
                       const std::string& vocabulary) {
    hub.small_files["open_clip_config.json"] = config;
    hub.large_files["open_clip_model.safetensors"] = weights;
    hub.small_files["elsewhere.gz"] = vocabulary;
  }
  Finished with_mirror(const std::vector<std::string>& arguments) const {
    Call call;
    call.arguments = arguments;
    call.environment = environment();
    call.environment.push_back("VIT_CLIP_VOCABULARY=" + hub.address() +
                               "/owner/tiny/resolve/main/elsewhere.gz");
    return run(call);
  }
  size_t vocabulary_requests() const {
    size_t count = 0;
    for (const auto& request : hub.hub_requests())
      if (request.path.ends_with("elsewhere.gz")) ++count;
    return count;
  }

  const std::string vocabulary_ = home.path("clip/bpe_simple_vocab_16e6.txt.gz");
};

TEST_F(PullWords, FetchesClipsVocabularyOnceForAllModelsWithoutOne) {
  const fs::path source = test::text_case("open_clip_vit");
  if (!fs::exists(source)) GTEST_SKIP() << "needs ../shared/goldens/text";
  serve_open_clip(read_file(source / "open_clip_config.json"),
                  read_file(source / "open_clip_model.safetensors"),
                  read_file(test::clip_vocabulary()));
  const Finished pulled = with_mirror({"pull", kName});
  ASSERT_EQ(pulled.status, 0) << pulled.err;
  EXPECT_THAT(pulled.out, AllOf(HasSubstr("bpe_simple_vocab_16e6.txt.gz"),
                                HasSubstr("sha256 verified, for all models")));
  EXPECT_THAT(files(), UnorderedElementsAre("open_clip_config.json", "open_clip_model.safetensors",
                                            ".pulled.json"));
  EXPECT_EQ(read_file(vocabulary_), read_file(test::clip_vocabulary()));
  EXPECT_EQ(vocabulary_requests(), 1u);

  EXPECT_EQ(with_mirror({"pull", kName}).status, 0);
  EXPECT_EQ(vocabulary_requests(), 1u) << "it was there already";
  const Finished answered = with_mirror(
      {"classify", "-m", kName, "--labels", "cat,dog", (source / "image0.png").string()});
  EXPECT_EQ(answered.status, 0) << answered.err;
}

TEST_F(PullWords, RefusesAVocabularyThatIsNotOpenAis) {
  serve_open_clip("{}", "weights", "something else");
  const Finished pulled = with_mirror({"pull", kName});
  EXPECT_EQ(pulled.status, 1);
  EXPECT_THAT(pulled.err,
              AllOf(HasSubstr("bpe_simple_vocab_16e6.txt.gz"), HasSubstr("924691ac288e5440")));
  EXPECT_TRUE(fs::is_empty(home.path("clip")));
}

TEST_F(PullWords, FetchesBothTowersWhereTheBareOneLiesBesideThem) {
  hub.small_files["config.json"] = R"({"architecture": "vit_base_patch32_clip_224"})";
  hub.small_files["tokenizer.json"] = "{}";
  hub.large_files["model.safetensors"] = "the image tower alone";
  serve_open_clip("{}", "both towers", "");
  const Finished pulled = with_mirror({"pull", kName});
  ASSERT_EQ(pulled.status, 0) << pulled.err;
  EXPECT_THAT(files(),
              UnorderedElementsAre("config.json", "open_clip_config.json", "tokenizer.json",
                                   "open_clip_model.safetensors", ".pulled.json"));
}

TEST_F(PullWords, FetchesTheTokenizersFiles) {
  const fs::path source = test::text_case("hf_siglip");
  for (const auto* name : {"config.json", "preprocessor_config.json", "spiece.model",
                           "tokenizer_config.json", "special_tokens_map.json"})
    hub.small_files[name] = read_file(source / name);
  hub.large_files["model.safetensors"] = read_file(source / "model.safetensors");
  const Finished pulled = with_mirror({"pull", kName});
  ASSERT_EQ(pulled.status, 0) << pulled.err;
  EXPECT_THAT(pulled.out, AllOf(HasSubstr("spiece.model"), Not(HasSubstr("bpe_simple_vocab"))));
  const Finished answered = with_mirror(
      {"classify", "-m", kName, "--labels", "cat,dog", (source / "image0.png").string()});
  EXPECT_EQ(answered.status, 0) << answered.err;
}

}  // namespace
}  // namespace vit::tools
