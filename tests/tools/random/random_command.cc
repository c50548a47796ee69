#include "tests/tools/random/random_command.h"

#include <algorithm>

#include "tools/draw/canvas.h"

namespace vit::test {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kImages[] = {"0/small.png", "0/wide.png", "1/tall.png", "1/dot.png"};

/// Arguments that every command gets besides the model.
struct Scene {
  const std::string& model;
  const ModelConfig& config;
  const Folder& images;
  const Folder& outputs;
  Dice& dice;
};

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

void add_model_options(Words& words, Scene& s) {
  Dice& dice = s.dice;
  const ModelConfig& c = s.config;
  append(words, {"--threads", dice.coin() ? "1" : "2"});
  if (dice.once_in(6))
    append(words,
           {"--image-size", std::to_string(c.embedding.patch_height * dice.between(1, 5)) + "x" +
                                std::to_string(c.embedding.patch_width * dice.between(1, 5))});
  if (dice.once_in(6))
    append(words, {"--positions",
                   dice.one_of<std::string>({"bilinear", "bilinear-align-corners", "bicubic",
                                             "bicubic-antialias", "bilinear-antialias"})});
  if (dice.once_in(4)) append(words, {"--precision", dice.coin() ? "int8" : "f32"});
  if (dice.once_in(8)) append(words, {"--max-tokens", std::to_string(dice.between(1, 30))});
}

void add_merge(Words& words, Scene& s) {
  if (s.dice.once_in(5)) append(words, {"--merge-tokens", std::to_string(s.dice.below(6))});
}

/// Each image on a grid of its own.
void add_patches(Words& words, Scene& s) {
  if (s.dice.once_in(6)) append(words, {"--max-patches", std::to_string(s.dice.between(1, 40))});
}

/// A number of a layer, head, row or class: mostly one that exists.
std::string some_number(Scene& s, size_t count) {
  return std::to_string(s.dice.below(count + 1));
}

Words some_images(Scene& s) {
  if (s.dice.once_in(5)) return {s.images.path("0")};
  Words files;
  for (const auto* image : kImages)
    if (s.dice.coin()) files.push_back(s.images.path(image));
  if (files.empty()) files.push_back(s.images.path(kImages[0]));
  return files;
}

void add_groups(Words& words, Scene& s) {
  if (s.dice.once_in(5))
    append(words, {"--groups", s.outputs.write("groups.txt", "odd = class-1, class-3\nall = *\n")});
}

Words classify(Scene& s) {
  Words words{"classify", "-m", s.model, "-k", std::to_string(s.dice.between(1, 9))};
  if (s.dice.coin()) words.push_back("--json");
  if (s.dice.once_in(3)) words.push_back("--logits");
  add_groups(words, s);
  if (s.dice.once_in(4)) append(words, {"--temperature", s.dice.coin() ? "0.01" : "50"});
  if (s.dice.once_in(4))
    append(words, {"--disable-heads",
                   some_number(s, s.config.encoder.depth) + ":" +
                       some_number(s, s.config.encoder.heads * s.config.encoder.branches)});
  add_model_options(words, s);
  add_merge(words, s);
  add_patches(words, s);
  append(words, some_images(s));
  return words;
}

Words batch(Scene& s) {
  Words words{"batch",
              "-q",
              "-m",
              s.model,
              "-o",
              s.dice.one_of<std::string>({s.outputs.path("rows.csv"), s.outputs.path("rows.jsonl"),
                                          s.outputs.path("rows.db"), s.outputs.path("rows.parquet"),
                                          s.outputs.path("rows.html"), "-"})};
  if (s.dice.once_in(3)) append(words, {"-k", std::to_string(s.dice.between(1, 9))});
  if (s.dice.once_in(4)) append(words, {"--min-probability", "0.3"});
  if (s.dice.once_in(4)) append(words, {"--copy-to", s.outputs.path("sorted")});
  add_groups(words, s);
  add_model_options(words, s);
  add_merge(words, s);
  add_patches(words, s);
  append(words, some_images(s));
  return words;
}

Words embed(Scene& s) {
  Words words{
      "embed",
      "-q",
      "-m",
      s.model,
      "-o",
      s.dice.one_of<std::string>({s.outputs.path("rows.npy"), s.outputs.path("rows.jsonl"), "-"})};
  if (s.dice.coin())
    append(words, {"--features", s.dice.one_of<std::string>(
                                     {"cls", "mean", "cls-and-mean", "pooled", "patches"})});
  if (s.dice.once_in(3)) words.push_back("--normalize");
  add_model_options(words, s);
  add_merge(words, s);
  add_patches(words, s);
  append(words, some_images(s));
  return words;
}

Words eval(Scene& s) {
  Words words{"eval", "-m", s.model};
  if (s.dice.coin()) words.push_back("--json");
  if (s.dice.once_in(3)) append(words, {"-o", s.outputs.path("report")});
  if (s.dice.once_in(4)) append(words, {"--tta", "mirror"});
  if (s.dice.once_in(4)) append(words, {"--calibrate", s.outputs.path("calibrated.safetensors")});
  if (s.dice.once_in(4)) append(words, {"--abstain-below", "0.4"});
  add_groups(words, s);
  add_model_options(words, s);
  std::string list = "file,label\n";
  for (const auto* image : kImages)
    list += s.images.path(image) + "," + std::to_string(s.dice.below(s.config.head.classes)) + "\n";
  words.push_back(s.dice.coin() ? s.images.path() : s.outputs.write("labels.csv", list));
  return words;
}

void add_map_options(Words& words, Scene& s) {
  Dice& dice = s.dice;
  const auto maybe = [&](const char* option, const std::string& value) {
    if (dice.once_in(4)) append(words, {option, value});
  };
  maybe("--method", dice.one_of<std::string>({"attention", "rollout", "relevance"}));
  maybe("--layer", dice.once_in(3) ? "all" : some_number(s, s.config.encoder.depth));
  maybe("--head", dice.one_of<std::string>(
                      {"all", "mean", "max", "min",
                       some_number(s, s.config.encoder.heads * s.config.encoder.branches)}));
  maybe("--query",
        dice.one_of<std::string>({"cls", "distillation", "register:0", "mean", "pool",
                                  some_number(s, 3) + "," + some_number(s, 3), "x:3,y:2"}));
  maybe("--head-fusion", dice.one_of<std::string>({"mean", "max", "min"}));
  maybe("--start-layer", some_number(s, s.config.encoder.depth));
  maybe("--discard", dice.coin() ? "0.9" : "0.5");
  for (int i = 0; i < 2; ++i) maybe("--class", some_number(s, s.config.head.classes));
}

Words attention(Scene& s) {
  Dice& dice = s.dice;
  const std::string output = s.outputs.path(dice.one_of<std::string>(
      {"map.png", "map.jpg", "map.html", "map.npy", "map.json", "map.svg", "map.pdf"}));
  Words words{"attention", "-m", s.model, "-o", output};
  const std::string sheet = dice.one_of<std::string>(
      {"", "", "", "--grid", "--grid", "--matrix", "--positions-similarity", "--filters"});
  if (!sheet.empty()) words.push_back(sheet);
  if (dice.coin()) add_map_options(words, s);
  if (dice.once_in(6)) words.push_back("--bare");
  if (dice.once_in(4)) append(words, {"--threshold", "0.5"});
  if (dice.once_in(4)) append(words, {"--clip-percentile", dice.coin() ? "1" : "100"});
  if (dice.once_in(4))
    append(words, {"--upsample", dice.one_of<std::string>({"nearest", "bilinear", "bicubic"})});
  add_model_options(words, s);
  add_merge(words, s);
  if (sheet != "--positions-similarity" && sheet != "--filters") append(words, some_images(s));
  return words;
}

Words heads(Scene& s) {
  Words words{"heads", s.model, "--images", s.images.path(s.dice.coin() ? "0" : kImages[1])};
  append(words, {"--importance-images", std::to_string(s.dice.below(3))});
  if (s.dice.coin())
    append(words, {"-o", s.outputs.path(s.dice.one_of<std::string>(
                             {"heads.csv", "heads.json", "heads.png", "heads.html"}))});
  add_model_options(words, s);
  return words;
}

Words info(Scene& s) {
  Words words{"info", s.model};
  if (s.dice.coin()) words.push_back("--json");
  if (s.dice.coin()) words.push_back("--tensors");
  return words;
}

Words convert(Scene& s) {
  Words words{"convert", s.model, s.outputs.path("converted.safetensors")};
  if (!s.dice.once_in(5))
    append(words, {"--dtype", s.dice.one_of<std::string>({"f32", "f16", "bf16", "int8"})});
  return words;
}

void add_probe_options(Words& words, Scene& s) {
  words.push_back("--probe");
  if (s.dice.coin()) append(words, {"--probe-layers", std::to_string(s.dice.between(1, 4))});
  if (s.dice.once_in(3)) append(words, {"--folds", "2"});
}

/// One epoch of a few images, in one of the many ways to train.
void add_training_options(Words& words, Scene& s) {
  Dice& dice = s.dice;
  if (dice.coin())
    words.push_back("--finetune");
  else
    append(words, {"--lora", std::to_string(dice.between(1, 5))});
  append(words, {"--epochs", "1", "--batch", "4"});
  const auto maybe = [&](const char* option, const std::string& value) {
    if (dice.once_in(5)) append(words, {option, value});
  };
  maybe("--head-start", dice.one_of<std::string>({"probe", "random", "keep"}));
  maybe("--optimizer", dice.coin() ? "muon" : "adamw");
  maybe("--keep-patches", dice.coin() ? "0.5" : "0.3:1");
  maybe("--drop-path", "0.5");
  maybe("--ema", "0");
  maybe("--mixup", "0.8");
  maybe("--cutmix", "1");
  maybe("--balance", dice.coin() ? "weights" : "sampling");
  maybe("--teacher", s.model);
}

Words train(Scene& s) {
  Words words{"train",       s.images.path(),
              "--from",      s.model,
              "-o",          s.outputs.path("own.safetensors"),
              "--val-share", "0.5"};
  if (s.dice.coin())
    add_probe_options(words, s);
  else
    add_training_options(words, s);
  if (s.dice.once_in(4)) words.push_back("--half");
  append(words, {"--threads", s.dice.coin() ? "1" : "2"});
  return words;
}

tools::Image random_image(size_t width, size_t height, Dice& dice) {
  tools::Image image{width, height, std::vector<std::uint8_t>(3 * width * height)};
  for (auto& byte : image.pixels) byte = static_cast<std::uint8_t>(dice.below(256));
  return image;
}

Words index(Scene& s) {
  Words words{"index", "-q", "-m", s.model, "-o", s.outputs.path("photos.index")};
  if (s.dice.once_in(3))
    append(words, {"--features", s.dice.one_of<std::string>({"cls", "mean", "output"})});
  if (s.dice.once_in(3)) words.push_back("--half");
  add_model_options(words, s);
  append(words, some_images(s));
  return words;
}

/// A command that reads the file of an index.
Words read_index(const std::string& file, Scene& s) {
  Dice& dice = s.dice;
  const std::string image = s.images.path(dice.one_of<std::string>({kImages[0], kImages[3]}));
  Words words = dice.one_of<Words>({{"search", file, "--image", image},
                                    {"search", file, "cat", "-", "image:" + image},
                                    {"duplicates", file, "--threshold", dice.coin() ? "0" : "0.9"},
                                    {"cluster", file, "-k", std::to_string(dice.between(1, 5))},
                                    {"pick", file, std::to_string(dice.between(1, 5))},
                                    {"pick", file, "2", "-m", s.model}});
  if (dice.coin())
    append(words, {"-o", s.outputs.path(dice.one_of<std::string>({"a.csv", "a.json", "a.html"}))});
  else if (dice.coin())
    words.push_back("--json");
  return words;
}

/// Whether `vit sort` and `vit export` take this output of `vit batch`.
bool is_read_again(const std::string& output) {
  return output.ends_with(".csv") || output.ends_with(".jsonl") || output.ends_with(".db");
}

Words sort(const std::string& file, Scene& s) {
  Words words{"sort", file, s.dice.coin() ? "--copy-to" : "--link-to", s.outputs.path("by class")};
  if (s.dice.coin()) append(words, {"--min-probability", "0.5"});
  if (s.dice.coin()) words.push_back("--keep-folders");
  return words;
}

/// Other commands on a model that a command has written.
Words use_model(const std::string& file, Scene& s) {
  return s.dice.one_of<Words>(
      {{"classify", "-m", file, s.images.path(kImages[0])},
       {"attention", "-m", file, "-o", s.outputs.path("own.png"), s.images.path(kImages[1])},
       {"convert", file, s.outputs.path("again.safetensors")},
       {"info", file}});
}

}  // namespace

void write_random_images(const Folder& folder) {
  Dice dice(1);
  const std::pair<size_t, size_t> sizes[] = {{20, 20}, {47, 13}, {9, 40}, {1, 1}};
  for (size_t i = 0; i < std::size(sizes); ++i) {
    const auto image = random_image(sizes[i].first, sizes[i].second, dice);
    folder.write(kImages[i], tools::encode_picture(image, ".png"));
  }
}

std::vector<std::string> random_command(const std::string& model, const ModelConfig& config,
                                        const RandomFolders& folders, Dice& dice) {
  Scene scene{model, config, folders.images, folders.outputs, dice};
  const std::vector<Words (*)(Scene&)> commands{classify,  batch, embed, eval,    attention, index,
                                                attention, heads, info,  convert, train};
  return dice.one_of(commands)(scene);
}

std::vector<std::string> next_random_command(const std::vector<std::string>& words,
                                             const std::string& model, const ModelConfig& config,
                                             const RandomFolders& folders, Dice& dice) {
  Scene scene{model, config, folders.images, folders.outputs, dice};
  if (words.front() == "index") return read_index(folders.outputs.path("photos.index"), scene);
  const auto output = std::find(words.begin(), words.end(), "-o");
  if (words.front() == "train") return use_model(*(output + 1), scene);
  if (words.front() == "convert")
    return use_model(folders.outputs.path("converted.safetensors"), scene);
  if (words.front() == "batch" && is_read_again(*(output + 1))) {
    if (dice.coin()) return sort(*(output + 1), scene);
    return {"export", *(output + 1), "-o",
            folders.outputs.path(dice.coin() ? "e.html" : "e.parquet")};
  }
  return {};
}

}  // namespace vit::test
