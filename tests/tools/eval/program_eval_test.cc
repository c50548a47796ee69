// vit eval as a user runs it. The model of hf_vit has ten of ImageNet's classes; for its own
// picture they are, best first, great white shark (2), goldfish (1), electric ray (5).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

#include "tests/support/paths.h"
#include "tests/tools/subprocess.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kModel = golden("hf_vit");

void put_picture(const std::string& path) {
  fs::create_directories(fs::path(path).parent_path());
  fs::copy_file(golden_image("hf_vit"), path);
}

json evaluated(const std::string& data) {
  const Finished finished = run({"eval", "-m", kModel, "--json", data});
  EXPECT_EQ(finished.status, 0) << finished.err;
  return finished.out.empty() ? json{} : json::parse(finished.out);
}

TEST(EvalProgram, SaysThatItWasStoppedAndWritesNothing) {
  const Folder folder;
  for (int i = 0; i < 2000; ++i)
    put_picture(folder.path("data/goldfish/" + std::to_string(i) + ".png"));
  const std::string report = folder.path("report");
  Call call;
  call.arguments = {"eval", "-m", kModel, "--threads", "1", "-o", report, folder.path("data")};
  Running running(call);
  while (!fs::exists(report) && !running.ends_within(std::chrono::seconds(0))) continue;
  running.send(SIGINT);
  const Finished finished = running.wait();
  EXPECT_EQ(finished.status, 128 + SIGINT);
  EXPECT_THAT(finished.err, HasSubstr("nothing was written"));
  EXPECT_FALSE(fs::exists(report + "/index.html"));
}

TEST(EvalProgram, MatchesClassFoldersByNameWordnetIdAndIndex) {
  const Folder folder;
  put_picture(folder.path("data/great_white_shark/a.png"));
  put_picture(folder.path("data/n01484850/b.png"));
  put_picture(folder.path("data/1/deeper/c.PNG"));
  put_picture(folder.path("data/2/.hidden.png"));
  folder.write("data/notes.txt", "not an image");
  folder.write("data/2/notes.txt", "not an image");
  const json result = evaluated(folder.path("data"));
  EXPECT_EQ(result.at("images"), 3);
  EXPECT_DOUBLE_EQ(result.at("top1").get<double>(), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(result.at("top5").get<double>(), 1.0);
  EXPECT_EQ(result.at("worst").size(), 1u);
  EXPECT_EQ(result.at("worst").at(0).at("truth"), "goldfish");
  EXPECT_EQ(result.at("worst").at(0).at("predicted"), "great white shark");
}

TEST(EvalProgram, AveragesTheAnswersToAnImageAndItsMirrorImage) {
  const Folder folder;
  put_picture(folder.path("data/2/a.png"));
  const cv::Mat picture = cv::imread(golden_image("hf_vit"));
  cv::Mat mirrored;
  cv::flip(picture, mirrored, 1);
  fs::create_directories(folder.path("mirrored/2"));
  ASSERT_TRUE(cv::imwrite(folder.path("mirrored/2/a.png"), mirrored));
  const auto confidence = [&](const std::string& data, const std::string& views) {
    const Finished finished =
        run({"eval", "-m", kModel, "--json", "--tta", views, folder.path(data)});
    EXPECT_EQ(finished.status, 0) << finished.err;
    return json::parse(finished.out).at("mean_confidence").get<double>();
  };
  const double one = confidence("data", "none"), other = confidence("mirrored", "none");
  EXPECT_NE(one, other);
  const double both = confidence("data", "mirror");
  EXPECT_NEAR(both, confidence("mirrored", "mirror"), 1e-6) << "the order does not matter";
  EXPECT_LE(both, 0.5 * (one + other) + 1e-6) << "the mean of two rows has no higher peak";
  EXPECT_GT(both, 0.5 * std::min(one, other));
  EXPECT_THAT(run({"eval", "-m", kModel, "--tta", "upside", folder.path("data")}).err,
              HasSubstr("'--tta' got 'upside'"));
}

TEST(EvalProgram, WritesACalibratedModelWhoseAnswersHaveTheFittedTemperature) {
  const Folder folder;
  put_picture(folder.path("data/2/a.png"));
  put_picture(folder.path("data/1/b.png"));
  put_picture(folder.path("data/5/c.png"));
  const std::string output = folder.path("calibrated.safetensors");
  const Finished fitted =
      run({"eval", "-m", kModel, folder.path("data"), "--calibrate", output, "--json"});
  ASSERT_EQ(fitted.status, 0) << fitted.err;
  const std::string said = "the model with its logits divided by ";
  ASSERT_THAT(fitted.err, HasSubstr(said));
  const std::string temperature = fitted.err.substr(fitted.err.find(said) + said.size());
  EXPECT_NE(std::stod(temperature), 1.0);
  const auto first_probability = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "classify");
    arguments.insert(arguments.end(), {"--json", golden_image("hf_vit")});
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.status, 0) << finished.err;
    return json::parse(finished.out)
        .at("images")
        .at(0)
        .at("predictions")
        .at(0)
        .at("probability")
        .get<double>();
  };
  const double calibrated = first_probability({"-m", output});
  EXPECT_NEAR(
      calibrated,
      first_probability({"-m", kModel, "--temperature", std::to_string(std::stod(temperature))}),
      1e-3)
      << "four digits of the temperature are printed";
  EXPECT_NE(calibrated, first_probability({"-m", kModel}));
  // The same three images: one of three answers is right, and the model now says so.
  const json after = json::parse(run({"eval", "-m", output, "--json", folder.path("data")}).out);
  EXPECT_DOUBLE_EQ(after.at("top1").get<double>(), 1.0 / 3.0);
  EXPECT_EQ(run({"eval", "-m", kModel, folder.path("data"), "--calibrate", output}).status, 1);
  EXPECT_EQ(
      run({"eval", "-m", kModel, folder.path("data"), "--calibrate", output, "--force"}).status, 0);
}

TEST(EvalProgram, RefusesCalibrationThatWouldMeanSomethingElse) {
  const Folder folder;
  put_picture(folder.path("data/2/a.png"));
  const auto refused = [&](std::vector<std::string> more) {
    std::vector<std::string> all{"eval", "-m", kModel, folder.path("data"), "--calibrate"};
    all.insert(all.end(), more.begin(), more.end());
    const Finished finished = run(all);
    EXPECT_EQ(finished.status, 2);
    return finished.err;
  };
  const std::string output = folder.path("out.safetensors");
  EXPECT_THAT(refused({output, "--tta", "mirror"}), HasSubstr("leave out --tta mirror"));
  EXPECT_THAT(refused({output, "--temperature", "2"}), HasSubstr("leave out --temperature"));
  EXPECT_THAT(refused({folder.path("out.pth")}),
              HasSubstr("expected a file that ends in .safetensors"));
  EXPECT_FALSE(fs::exists(output));
}

TEST(EvalProgram, WritesARowPerImageAndATableOfConfidenceLevels) {
  const Folder folder;
  put_picture(folder.path("data/2/a.png"));
  put_picture(folder.path("data/1/=b.png"));
  folder.write("data/1/broken.png", "not a picture");
  const Finished finished = run({"eval", "-m", kModel, folder.path("data"), "-o",
                                 folder.path("report"), "--abstain-below", "0.05", "--json"});
  EXPECT_EQ(finished.status, 1) << "one image could not be read";
  const std::string rows = read_file(folder.path("report/predictions.csv"));
  EXPECT_THAT(rows, StartsWith("file,truth,predicted,probability,truth_probability,rank\n"));
  EXPECT_EQ(std::ranges::count(rows, '\n'), 3);
  EXPECT_THAT(rows, HasSubstr("/a.png,great white shark,great white shark,"));
  EXPECT_THAT(rows, HasSubstr(",2\n")) << "the goldfish comes second";
  const json levels = json::parse(finished.out).at("levels");
  EXPECT_DOUBLE_EQ(levels.at(0).at("least").get<double>(), 0.05);
  EXPECT_EQ(levels.at(0).at("images"), 2);
  EXPECT_EQ(levels.at(0).at("right"), 1);
  EXPECT_EQ(run({"eval", "-m", kModel, folder.path("data"), "--abstain-below", "2"}).status, 2);
}

TEST(EvalProgram, TakesTheClassFromImageNetsFileNames) {
  const Folder folder;
  put_picture(folder.path("n01484850_7.png"));
  put_picture(folder.path("n01443537_8.png"));
  EXPECT_DOUBLE_EQ(evaluated(folder.path()).at("top1").get<double>(), 0.5);
  put_picture(folder.path("holiday.png"));
  const Finished finished = run({"eval", "-m", kModel, folder.path()});
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, HasSubstr("holiday.png: no class given, expected "));
}

TEST(EvalProgram, ReadsCsvWithAndWithoutHeader) {
  const Folder folder;
  put_picture(folder.path("a, b.png"));
  const std::string plain =
      folder.write("plain.csv", "\"a, b.png\",great white shark\n\"a, b.png\",1\n");
  EXPECT_DOUBLE_EQ(evaluated(plain).at("top1").get<double>(), 0.5);
  const std::string named =
      folder.write("named.csv", "id,Label,File\r\n1,n01484850,\"" + folder.path("a, b.png") +
                                    "\"\r\n2,great-white-shark,\"a, b.png\"\r\n");
  EXPECT_DOUBLE_EQ(evaluated(named).at("top1").get<double>(), 1.0);
}

TEST(EvalProgram, CountsAndListsWhatItCannotRead) {
  const Folder folder;
  put_picture(folder.path("data/2/good.png"));
  folder.write("data/2/torn.jpg", "this is no JPEG");
  const Finished finished = run({"eval", "-m", kModel, "--json", folder.path("data")});
  EXPECT_EQ(finished.status, 1) << "one image failed, the rest is done";
  EXPECT_THAT(finished.err, HasSubstr("torn.jpg: "));
  const json result = json::parse(finished.out);
  EXPECT_EQ(result.at("images"), 1);
  EXPECT_EQ(result.at("unreadable"), 1);
  EXPECT_THAT(result.at("failures").at(0).at("file").get<std::string>(), HasSubstr("torn.jpg"));

  const std::string list = folder.write("list.csv", "data/2/good.png,2\nnowhere.png,2\n");
  const Finished missing = run({"eval", "-m", kModel, list});
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.err, HasSubstr("nowhere.png: no such file"));
  EXPECT_THAT(missing.out, HasSubstr("1 more could not be read and are not in the figures"));
}

TEST(EvalProgram, WritesAReport) {
  const Folder folder;
  put_picture(folder.path("data/2/a.png"));
  put_picture(folder.path("data/goldfish/b.png"));
  const Finished finished =
      run({"eval", "-m", kModel, folder.path("data"), "-o", folder.path("report")});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("top-1                 50.00 %   1 of 2"));
  EXPECT_EQ(read_file(folder.path("report/confusion.csv")),
            "true class,goldfish,great white shark\ngoldfish,0,1\ngreat white shark,0,1\n");
  EXPECT_THAT(read_file(folder.path("report/confusion.png")), StartsWith("\x89PNG"));
  EXPECT_THAT(read_file(folder.path("report/classes.csv")), HasSubstr("1,goldfish,1,0,0,,0,0"));
  EXPECT_THAT(read_file(folder.path("report/index.html")), HasSubstr("Worst mistakes"));
  EXPECT_EQ(run({"eval", "-m", kModel, folder.path("data"), "-o", folder.path("one.html")}).status,
            0);
  EXPECT_EQ(read_file(folder.path("one.html")), read_file(folder.path("report/index.html")));
}

struct Wrong {
  std::vector<std::string> arguments;
  int status;
  std::string message;
};

TEST(EvalProgram, MakesCsvHarmlessWhereThereIsCsv) {
  const Folder folder;
  folder.write("data/0/a.png", read_file(golden_image("hf_vit")));
  const std::vector<std::string> call{"eval", "-m", golden("hf_vit"), folder.path("data"),
                                      "--csv-safe"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), call.begin(), call.end());
    return run(more);
  };
  EXPECT_EQ(with({"-o", folder.path("report")}).status, 0);
  EXPECT_TRUE(std::filesystem::exists(folder.path("report/classes.csv")));
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"-o", "page.html"}}) {
    const Finished refused = with(more);
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("--csv-safe applies to the .csv files of a report folder"));
  }
}

TEST(EvalProgram, SaysWhatIsWrong) {
  const Folder folder;
  put_picture(folder.path("typo/goldfihs/a.png"));
  put_picture(folder.path("typo/2/a.png"));
  put_picture(folder.path("two/goldfihs/a.png"));
  put_picture(folder.path("two/sharc/a.png"));
  put_picture(folder.path("split/train/goldfish/a.png"));
  put_picture(folder.path("split/val/goldfish/a.png"));
  fs::create_directories(folder.path("empty/goldfish"));
  const std::string label = folder.write("label.csv", "a.png,2\nb.png,dolphin\n");
  const std::string header = folder.write("header.csv", "picture,kind\na.png,2\n");
  const std::string one = folder.write("one.csv", "a.png\n");
  const std::vector<Wrong> cases{
      {{}, 2, "no operand given, expected one: a folder of class folders, or a CSV file"},
      {{folder.path("typo"), "--worst", "many"}, 2, "option '--worst' got 'many'"},
      {{folder.path("typo"), "-o", "r.txt"}, 2, "got 'r.txt', expected a folder, or a name that"},
      {{folder.path("nowhere")}, 1, "nowhere: no such file or folder"},
      {{folder.path("typo")},
       1,
       "class folder 'goldfihs' is not a class of ViTForImageClassification by name, WordNet id or "
       "index (0 to 9); did you mean 'goldfish'?"},
      {{folder.path("two")}, 1, "did you mean 'goldfish'?; nor is another folder: 'sharc'"},
      {{folder.path("split")}, 1, "split/val are; did you mean that folder?"},
      {{folder.path("empty")}, 1, "empty: no image in it, expected files that end in .jpg"},
      {{label}, 1, "label.csv: line 2: label 'dolphin' is not a class of"},
      {{header}, 1, "if this line names the columns, call them file and label"},
      {{one}, 1, "one.csv: line 1: got 1 field, expected a file and its label"},
  };
  for (const Wrong& wrong : cases) {
    std::vector<std::string> arguments{"eval", "-m", kModel};
    arguments.insert(arguments.end(), wrong.arguments.begin(), wrong.arguments.end());
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.status, wrong.status) << wrong.message;
    EXPECT_THAT(finished.err, HasSubstr(wrong.message));
    EXPECT_EQ(finished.out, "");
  }
}

/// IDX files of 8x8 grey images, brighter from one to the next.
void write_idx(const Folder& folder, const std::string& part, const std::string& labels) {
  const auto count = static_cast<char>(labels.size());
  std::string images{0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 8, 0, 0, 0, 8};
  for (size_t i = 0; i < labels.size(); ++i) images += std::string(64, static_cast<char>(20 * i));
  folder.write(part + "-images-idx3-ubyte", images);
  folder.write(part + "-labels-idx1-ubyte", std::string{0, 0, 8, 1, 0, 0, 0, count} + labels);
}

TEST(EvalProgram, MeasuresTheTestPartOfIdxFiles) {
  const Folder folder;
  write_idx(folder, "train", {0, 1, 2});
  const Finished without = run({"eval", "-m", kModel, folder.path()});
  EXPECT_EQ(without.status, 1);
  EXPECT_THAT(without.err, HasSubstr("no test part in it, expected t10k-images-idx3-ubyte"));
  write_idx(folder, "t10k", {0, 1, 2, 0, 1});
  const json result = evaluated(folder.path());
  EXPECT_EQ(result.at("images"), 5);
  EXPECT_EQ(result.at("classes").at(0).at("images"), 2);
  EXPECT_EQ(result.at("classes").at(1).at("images"), 2);
  EXPECT_EQ(result.at("classes").at(2).at("images"), 1);
}

TEST(EvalProgram, MeasuresTheTestPartOfCifarBinaries) {
  const Folder folder;
  const auto record = [](char label) {
    std::string bytes(3073, '\x40');
    bytes.front() = label;
    return bytes;
  };
  folder.write("data_batch_1.bin", record(0) + record(1));
  folder.write("test_batch.bin", record(1) + record(1) + record(0));
  const Finished other = run({"eval", "-m", kModel, folder.path()});
  EXPECT_EQ(other.status, 1);
  EXPECT_THAT(other.err, HasSubstr("label 'airplane' is not a class of"));
  folder.write("batches.meta.txt", "great white shark\ngoldfish\n");
  const json result = evaluated(folder.path());
  EXPECT_EQ(result.at("images"), 3);
  EXPECT_EQ(result.at("classes").at(0).at("label"), "goldfish");
  EXPECT_EQ(result.at("classes").at(0).at("images"), 2);
  EXPECT_EQ(result.at("classes").at(1).at("label"), "great white shark");
  EXPECT_EQ(result.at("classes").at(1).at("images"), 1);
}

TEST(EvalProgram, DeitTinyIsRightOn78Of100Photographs) {
  const fs::path shared = test::shared();
  const fs::path model = shared / "models" / "deit_tiny_patch16_224";
  const fs::path images = shared / "images" / "imagenet-100";
  if (!fs::exists(model) || !fs::exists(images))
    GTEST_SKIP() << "needs ../shared/models and ../shared/images";
  const Finished finished = run({"eval", "-m", model.string(), images.string()});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("top-1                 78.00 %   78 of 100"));
  EXPECT_THAT(finished.out, HasSubstr("top-5                 94.00 %   94 of 100"));
  const Finished both = run({"eval", "-m", model.string(), "--tta", "mirror", images.string()});
  EXPECT_THAT(both.out, HasSubstr("top-1                 79.00 %   79 of 100"));
}

}  // namespace
}  // namespace vit::tools
