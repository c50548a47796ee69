// vit train as a user runs it, on small pictures of three colours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <sstream>
#include <thread>

#include <opencv2/imgcodecs.hpp>

#include "tests/tools/subprocess.h"
#include "tests/tools/train/train_call.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(TrainProgram, MakesAModelThatClassifies) {
  const Folder folder;
  write_pictures(folder.path("data"), 20);
  const Finished finished = run(train(folder, {}));
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("3 classes, 54 training and 6 validation images"));
  EXPECT_THAT(finished.out, HasSubstr("best validation accuracy 100.00 %"));
  EXPECT_THAT(classified(folder, "data/red/0.png"), HasSubstr("red"));
  EXPECT_THAT(classified(folder, "data/blue/3.png"), HasSubstr("blue"));
  EXPECT_THAT(read_file(folder.path("m.safetensors.csv")), HasSubstr("epoch,train_loss"));
  EXPECT_FALSE(cv::imread(folder.path("m.safetensors.png")).empty());
}

TEST(TrainProgram, EndsWithTheReportOfEval) {
  const Folder folder;
  write_pictures(folder.path("data/train"), 12);
  write_pictures(folder.path("data/val"), 4);
  const Finished finished = run(train(folder, {}));
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Finished evaluated =
      run({"eval", "-m", folder.path("m.safetensors"), folder.path("data/val")});
  EXPECT_EQ(evaluated.status, 0) << evaluated.err;
  const std::string figures = evaluated.out.substr(evaluated.out.find("  top-1"));
  EXPECT_THAT(finished.out, HasSubstr(figures)) << "the same, however they are asked for";
  EXPECT_THAT(finished.out, HasSubstr("report " + folder.path("m.safetensors.eval/index.html")));
  EXPECT_THAT(read_file(folder.path("m.safetensors.eval/confusion.csv")),
              HasSubstr("true class,blue,green,red\n"));
}

TEST(TrainProgram, GivesClassesOtherNamesThanTheirFolders) {
  const Folder folder;
  write_pictures(folder.path("data"), 6);
  const auto named = [&](const std::string& lines) {
    return run(train(
        folder, {"--epochs", "2", "--restart", "--class-names", folder.write("names", lines)}));
  };
  const Finished finished = named("red\tfire engine\r\nblue\tsea\nviolet\tplum\n");
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(run({"info", folder.path("m.safetensors")}).out,
              HasSubstr("sea, green, fire engine"));
  EXPECT_THAT(named("red\tsea\nblue\tsea\n").err,
              HasSubstr("names: classes 'blue' and 'red' are both called 'sea', expected names "
                        "that differ"));
  EXPECT_THAT(named("violet\tplum\n").err,
              HasSubstr("names: names none of the 3 classes of the data, such as 'blue'"));
  EXPECT_THAT(named("red\ta\nred\tb\n").err, HasSubstr("names: line 2 names class 'red' again"));
  EXPECT_THAT(named("red a\n").err,
              HasSubstr("names: line 1 is 'red a', expected a class, a tab and its name"));
}

TEST(TrainProgram, KeepsTheWordnetIdsOfRenamedFolders) {
  const Folder folder;
  write_pictures(folder.path("data"), 6);
  fs::rename(folder.path("data/blue"), folder.path("data/n09428293"));
  fs::rename(folder.path("data/green"), folder.path("data/n07734744"));
  fs::rename(folder.path("data/red"), folder.path("data/n04285008"));
  ASSERT_EQ(run(train(folder, {"--epochs", "2", "--class-names",
                               folder.write("names", "n09428293\tthe blue one\n")}))
                .status,
            0);
  const Finished finished =
      run({"eval", "--json", "-m", folder.path("m.safetensors"), folder.path("data")});
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("the blue one"));
}

TEST(TrainProgram, SkipsAndCountsWhatItCannotRead) {
  const Folder folder;
  write_pictures(folder.path("data"), 6);
  for (int i = 0; i < 7; ++i)
    folder.write("data/red/torn" + std::to_string(i) + ".jpg", "this is no JPEG");
  const Finished finished = run(train(folder, {"--epochs", "1"}));
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("skipped " + folder.path("data/red/torn0.jpg")));
  EXPECT_THAT(finished.err, HasSubstr("skipped 7 files in all"));
  EXPECT_THAT(finished.out, HasSubstr("3 classes, 15 training and 3 validation images"));
}

TEST(TrainProgram, ResumesAndWillNotResumeAnotherRun) {
  const Folder folder;
  write_pictures(folder.path("data"), 8);
  ASSERT_EQ(run(train(folder, {})).status, 0);
  const std::string before = read_file(folder.path("m.safetensors"));
  const Finished again = run(train(folder, {"--resume"}));
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("continuing after epoch 8"));
  EXPECT_EQ(read_file(folder.path("m.safetensors")), before);
  const Finished other = run(train(folder, {"--resume", "--seed", "3"}));
  EXPECT_EQ(other.status, 1);
  EXPECT_EQ(other.err, "vit: " + folder.path("m.safetensors.checkpoint") +
                           ": belongs to a run with other data, model or settings; repeat the "
                           "command of that run, or start again with --restart\n");
  const Finished forgotten = run(train(folder, {}));
  EXPECT_EQ(forgotten.status, 1);
  EXPECT_THAT(forgotten.err, HasSubstr("an earlier run exists; continue it with --resume"));
  EXPECT_EQ(read_file(folder.path("m.safetensors")), before);
  fs::rename(folder.path("data/red"), folder.path("data/x"));
  fs::rename(folder.path("data/blue"), folder.path("data/red"));
  fs::rename(folder.path("data/x"), folder.path("data/blue"));
  const Finished swapped = run(train(folder, {"--resume"}));
  EXPECT_EQ(swapped.status, 1) << "as many images of as many classes, but not the same";
  EXPECT_THAT(swapped.err, HasSubstr("other data, model or settings"));
}

/// Until the first epoch is in the log, or a while has passed.
void wait_for_epoch(const fs::path& log) {
  for (int i = 0; i < 12'000 && !fs::exists(log); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

TEST(TrainProgram, StopsOnASignalAndResumesAsIfItHadNot) {
  const Folder folder;
  write_pictures(folder.path("data"), 8);
  ASSERT_EQ(run(train(folder, {"--epochs", "60"})).status, 0);
  const std::string whole = read_file(folder.path("m.safetensors"));
  for (const char* ending : {"", ".csv", ".checkpoint"})
    fs::remove(folder.path("m.safetensors") + ending);
  Call call;
  call.arguments = train(folder, {"--epochs", "60"});
  Running running(call);
  wait_for_epoch(folder.path("m.safetensors.csv"));
  running.send(SIGINT);
  const Finished stopped = running.wait();
  EXPECT_EQ(stopped.status, 128 + SIGINT);
  EXPECT_THAT(stopped.err, HasSubstr("the same command with --resume continues"));
  const Finished resumed = run(train(folder, {"--epochs", "60", "--resume"}));
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(read_file(folder.path("m.safetensors")), whole);
}

TEST(TrainProgram, AModelFileThatIsGoneIsMadeAgainFromTheCheckpoint) {
  const Folder folder;
  write_pictures(folder.path("data"), 8);
  ASSERT_EQ(run(train(folder, {})).status, 0);
  fs::remove(folder.path("m.safetensors"));
  const Finished resumed = run(train(folder, {"--resume"}));
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("m.safetensors: was missing; the weights of the checkpoint "
                                     "replace it"));
  EXPECT_THAT(classified(folder, "data/red/0.png"), HasSubstr("red"));
  const Finished again = run(train(folder, {"--resume"}));
  EXPECT_EQ(again.err, "");
  const auto verdict = [](const std::string& text) { return text.substr(text.find("best valid")); };
  EXPECT_EQ(verdict(again.out), verdict(resumed.out)) << "of the file that is there";
}

TEST(TrainProgram, AModelLostDuringAnEpochIsReplacedByTheNextEpochs) {
  const Folder folder;
  write_pictures(folder.path("data"), 8);
  // Many steps an epoch: the signal most likely comes during one.
  const auto arguments = [&](const char* more) {
    std::vector<std::string> given = train(folder, {"--epochs", "40", "--batch", "2"});
    if (*more != '\0') given.push_back(more);
    return given;
  };
  Call call;
  call.arguments = arguments("");
  Running running(call);
  wait_for_epoch(folder.path("m.safetensors.csv"));
  running.send(SIGTERM);
  ASSERT_EQ(running.wait().status, 128 + SIGTERM);
  fs::remove(folder.path("m.safetensors"));
  const Finished resumed = run(arguments("--resume"));
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("the weights of the checkpoint replace it"));
  EXPECT_THAT(read_file(folder.path("m.safetensors")), HasSubstr("\"epoch\":\""));
  EXPECT_THAT(classified(folder, "data/red/0.png"), HasSubstr("red"));
}

TEST(TrainProgram, OfEquallyAccurateModelsTheOneWithTheLowestLossIsKept) {
  const Folder folder;
  write_pictures(folder.path("data"), 12);
  const Finished finished = run(train(folder, {}));
  ASSERT_EQ(finished.status, 0) << finished.err;
  std::istringstream log(read_file(folder.path("m.safetensors.csv")));
  std::string line, best_epoch;
  std::getline(log, line);
  double best_accuracy = -1.0, best_loss = 0.0;
  while (std::getline(log, line)) {
    std::istringstream fields(line);
    std::vector<std::string> row;
    for (std::string field; std::getline(fields, field, ',');) row.push_back(field);
    const double loss = std::stod(row.at(3)), accuracy = std::stod(row.at(4));
    if (accuracy < best_accuracy || (accuracy == best_accuracy && loss >= best_loss)) continue;
    best_epoch = row.at(0);
    best_accuracy = accuracy;
    best_loss = loss;
  }
  EXPECT_THAT(read_file(folder.path("m.safetensors")),
              HasSubstr("\"epoch\":\"" + best_epoch + "\""));
}

TEST(TrainProgram, ProbesAndFinetunesAModelForOtherClasses) {
  const Folder folder;
  write_pictures(folder.path("data"), 12);
  for (const std::string how : {"--probe", "--finetune"}) {
    std::vector<std::string> arguments{
        "train",  folder.path("data"), "-o", folder.path("m.safetensors"),
        "--from", golden("timm_vit"),  how};
    if (how == "--finetune")
      arguments.insert(arguments.end(), {"--epochs", "2", "--batch", "8", "--restart"});
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.status, 0) << how << finished.err;
    EXPECT_THAT(finished.out, HasSubstr("validation accuracy")) << how;
    EXPECT_THAT(classified(folder, "data/red/0.png"), HasSubstr("%")) << how;
  }
}

TEST(TrainProgram, TakesTheHeadsOfAFileThatDoesNotStoreThem) {
  const Folder folder;
  write_pictures(folder.path("data"), 12);
  for (const std::string how : {"--probe", "--finetune", "--lora=2"}) {
    std::vector<std::string> arguments{"train",   folder.path("data"),
                                       "-o",      folder.path("m.safetensors"),
                                       "--from",  golden("families/original_pe_core/PE-Core.pt"),
                                       "--heads", "2",
                                       how};
    if (how != "--probe")
      arguments.insert(arguments.end(), {"--epochs", "1", "--batch", "8", "--restart"});
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.status, 0) << how << finished.err;
    EXPECT_THAT(classified(folder, "data/red/0.png"), HasSubstr("%")) << how;
  }
}

TEST(TrainProgram, SaysWhatIsWrong) {
  const Folder folder;
  const auto message = [&](const std::vector<std::string>& arguments, int status) {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.status, status);
    return finished.err;
  };
  const std::string data = folder.path("data");
  EXPECT_THAT(message({"train"}, 2), HasSubstr("expected one: the folder with the data"));
  EXPECT_THAT(message({"train", data}, 2), HasSubstr("no model file given"));
  EXPECT_THAT(message({"train", data, "-o", "x", "--probe"}, 2), HasSubstr("--from MODEL"));
  EXPECT_THAT(message({"train", data, "-o", "x", "--from", "m", "--width", "64"}, 2),
              HasSubstr("'--width' describes a new model, but --from gives one"));
  EXPECT_THAT(message({"train", data, "-o", "x", "--lr", "fast"}, 2),
              HasSubstr("option '--lr' got 'fast', expected a number"));
  for (const char* range : {"0.5:", ":1", "0.5:2", "0.5:0.6:0.7"})
    EXPECT_THAT(message({"train", data, "-o", "x", "--keep-patches", range}, 2),
                HasSubstr("option '--keep-patches' got '" + std::string(range) +
                          "', expected a number from 0.05 to 1, or two such as 0.05:1"));
  EXPECT_THAT(message({"train", data, "-o", ""}, 2), HasSubstr("no model file given"));
  EXPECT_THAT(message({"train", data, "-o", "x", "--heads", "5"}, 2),
              HasSubstr("option '--heads': got 5, expected a divisor of the width 192"));
  EXPECT_THAT(message({"train", data, "-o", "x", "--patch", "5"}, 2),
              HasSubstr("option '--patch': got 5, expected a divisor of the image size 32"));
  EXPECT_THAT(message({"train", data, "-o", "x", "--from", "m", "--epochs", "3"}, 2),
              HasSubstr("'--epochs' has no effect on a probe"));
  EXPECT_THAT(message({"train", data, "-o", "x", "--teacher-share", "1"}, 2),
              HasSubstr("needs a teacher: --teacher MODEL"));
  EXPECT_THAT(message({"train", data, "-o", "x", "--resume", "--restart"}, 2),
              HasSubstr("exclude each other"));
  EXPECT_THAT(message({"train", data, "-o", "x"}, 1), HasSubstr("no such file or folder"));
  write_pictures(data, 2);
  EXPECT_THAT(message({"train", data, "-o", "x", "--image-size", "4096", "--patch", "1"}, 1),
              HasSubstr("option '--image-size': an input of 4096x4096 pixels in patches of 1x1 "
                        "gives 16777216 tokens, at most 32768 are allowed"));
  EXPECT_THAT(message({"train", data, "-o", folder.path("none/x")}, 1),
              HasSubstr("cannot write: there is no folder " + folder.path("none")));
  EXPECT_THAT(message({"train", data, "-o", folder.path()}, 1),
              HasSubstr("is a folder, expected the name of a model file"));
  EXPECT_THAT(message({"train", data, "-o", folder.path("data/x")}, 1),
              HasSubstr("is inside the data, expected a place outside"));
  EXPECT_FALSE(fs::exists(folder.path("data/x")));
  fs::create_directories(folder.path("y.checkpoint"));
  EXPECT_THAT(message({"train", data, "-o", folder.path("y")}, 1),
              HasSubstr("y.checkpoint: is a folder, but a file of this name is written"));
  folder.write("z.eval", "");
  EXPECT_THAT(message({"train", data, "-o", folder.path("z")}, 1),
              HasSubstr("z.eval: is a file, but a folder of this name is written"));
  const Finished diverged = run({"train",
                                 data,
                                 "-o",
                                 folder.path("x"),
                                 "--image-size",
                                 "16",
                                 "--width",
                                 "8",
                                 "--depth",
                                 "1",
                                 "--heads",
                                 "1",
                                 "--lr",
                                 "10",
                                 "--weight-decay",
                                 "10",
                                 "--warmup",
                                 "0",
                                 "--clip",
                                 "0",
                                 "--epochs",
                                 "200",
                                 "--val-share",
                                 "0.5"});
  EXPECT_EQ(diverged.status, 1);
  EXPECT_THAT(diverged.err, HasSubstr("restart with a lower learning rate (now at most 10)"));
  fs::remove_all(fs::path(data) / "red");
  fs::remove_all(fs::path(data) / "blue");
  EXPECT_THAT(message({"train", data, "-o", "x"}, 1), HasSubstr("1 class, expected at least two"));
}

}  // namespace
}  // namespace vit::tools
