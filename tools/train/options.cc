#include "tools/train/settings.h"

namespace vit::tools {
namespace {

void add_new_model_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "Model",
      {
          {"from", "model to start from: a new classifier on its features", text(), "MODEL"},
          {"probe", "with --from: train only the new classifier (the default)"},
          {"probe-layers",
           "for a probe: number of last layers whose class token and mean the classifier reads "
           "(1)",
           text(), "N"},
          {"finetune", "with --from: train all weights of the model"},
          {"lora",
           "with --from: train low-rank changes of the layers' matrices, merged into the model at "
           "the end; needs less memory than --finetune",
           text(), "RANK"},
          {"head-start",
           "initial classifier of --finetune and --lora: probe, random, or keep (the model's own, "
           "for the same classes) (probe)",
           text(), "HOW"},
          {"arch", "from scratch: a known architecture, such as vit_tiny_patch16_224", text(),
           "NAME"},
          {"image-size", "edge of the input in pixels (32; with --from: the model's own)", text(),
           "N"},
          {"patch", "edge of a patch in pixels (4)", text(), "N"},
          {"width", "width of the tokens (192)", text(), "N"},
          {"depth", "layers (6)", text(), "N"},
          {"heads",
           "attention heads (3); with --from: those of a weight file that does not store them",
           text(), "N"},
          {"mlp-ratio", "ratio of the MLP's width to that of the tokens (4)", text(), "X"},
          {"pool", "pooling: mean (of the tokens), class (a class token) or class-and-mean", text(),
           "WHAT"},
          {"init", "initialisation: mimetic or plain", text(), "HOW"},
      });
}

void add_learning_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "Learning",
      {
          {"epochs", "passes over the data (100; finetune, lora 5)", text(), "N"},
          {"batch", "images per step (128; finetune, lora: 8 to 128, by the number of images)",
           text(), "N"},
          {"lr", "highest learning rate (0.001; finetune 0.0001)", text(), "X"},
          {"optimizer", "adamw; or muon, for the matrices of the layers (adamw)", text(), "NAME"},
          {"weight-decay", "weight decay of AdamW (0.05)", text(), "X"},
          {"warmup", "epochs of warm-up to the highest rate (5; finetune, lora 1)", text(), "X"},
          {"precision",
           "format of the factors of products: f32, or bf16 with AMX or AVX-512 BF16 (f32)", text(),
           "WHAT"},
          {"clip", "largest norm of a gradient, 0: any (1)", text(), "X"},
          {"ema", "decay of the running average of the weights, 0: none (0.999)", text(), "X"},
          {"layer-decay", "factor on the rate per layer below the head (1; finetune 0.75)", text(),
           "X"},
          {"patience", "epochs without a better validation accuracy after which to stop", text(),
           "N"},
          {"balance",
           "balance of rare and frequent classes: weights (of their images), sampling (equally "
           "many images of each) or none (none)",
           text(), "HOW"},
          {"drop-path", "probability of skipping the last layer (0)", text(), "X"},
          {"keep-patches",
           "share of the patches of an image that are used: less is faster; X:Y grows from X to Y "
           "(1)",
           text(), "X"},
          {"whole-epochs", "number of last epochs that use all patches (a tenth)", text(), "N"},
      });
}

/// What the classifier learns to answer.
void add_target_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "Learning",
      {
          {"label-smoothing", "share of a label spread over all classes (0.1)", text(), "X"},
          {"mixup", "alpha of mixtures of two images, 0: none (0)", text(), "X"},
          {"cutmix", "alpha of boxes from another image, 0: none (0)", text(), "X"},
          {"mix-probability", "probability of mixing a batch (1)", text(), "X"},
          {"teacher", "model whose answers are part of the targets (distillation)", text(),
           "MODEL"},
          {"teacher-share", "share of the teacher's answers in the targets (0.5)", text(), "X"},
          {"teacher-crops",
           "crops of each image for the teacher, used by the epochs in turn; 0: the whole "
           "image (0)",
           text(), "N"},
          {"store-teacher", "file of the teacher's answers: reused if it exists", text(), "FILE"},
          {"teacher-classes",
           "lines of a class of the data, a tab and the teacher's label for it, where they differ",
           text(), "FILE"},
      });
}

void add_image_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options(
      "Images",
      {
          {"crop", "pad (shift by a few pixels), resized (a random part) or none (by image size)",
           text(), "HOW"},
          {"flip",
           "mirrored images: random, alternating (each image in every other epoch), or none, for "
           "digits and text (random)",
           text(), "HOW"},
          {"jitter", "largest change of brightness, contrast and saturation (0)", text(), "X"},
          {"randaugment", "random operations per image (2)", text(), "N"},
          {"magnitude", "strength of these operations, 0 to 1 (0.9)", text(), "X"},
          {"erase", "probability of replacing a box by noise (0.25)", text(), "X"},
          {"val-share", "share for validation if the data has no validation part (0.1)", text(),
           "X"},
          {"folds", "for a probe: parts of a cross-validation; the model is fitted to all images",
           text(), "N"},
          {"class-names", "lines of a class folder, a tab and the label that the model gets for it",
           text(), "FILE"},
          {"max-per-class", "most training images of each class to use", text(), "N"},
          {"max-pixels",
           "pixels of the largest image to read, and of all images that are decoded at a "
           "time (500M)",
           text(), "N"},
      });
}

}  // namespace

void add_train_options(cxxopts::Options& options) {
  const auto text = [] { return cxxopts::value<std::string>(); };
  options.add_options("", {
                              {"o,output", "the model file to write", text(), "FILE"},
                              {"resume", "continue the run that wrote FILE.checkpoint"},
                              {"restart", "overwrite an existing model or run"},
                              {"preview", "write a picture of augmented training images, and stop",
                               text(), "FILE.png"},
                              {"find-rate", "try learning rates, suggest one, and stop"},
                              {"tensorboard", "also write FILE.tensorboard for TensorBoard"},
                          });
  add_new_model_options(options);
  add_learning_options(options);
  add_target_options(options);
  add_image_options(options);
  options.add_options(
      "Machine", {
                     {"seed", "random seed (0)", text(), "N"},
                     {"threads", "worker threads (default: one per available core)", text(), "N"},
                     {"save-every", "seconds between checkpoints (300)", text(), "S"},
                     {"half", "store the model's matrices in 16 bits"},
                 });
}

}  // namespace vit::tools
