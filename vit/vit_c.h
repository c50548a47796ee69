/* The library for C, and for languages that call C: load a model, classify, embed, free.
 *
 * A call that fails returns NULL or 0 and throws nothing; vit_last_error() says why, for each
 * thread on its own. Any number of threads may use one classifier and one image at the same time,
 * as long as none of them frees it. Texts are UTF-8 and end in 0. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vit_classifier vit_classifier;
typedef struct vit_image vit_image;

typedef struct vit_prediction {
  size_t index;      /* of the class */
  const char* label; /* "class 7" where the model has no names; valid until vit_free() */
  float probability;
} vit_prediction;

/* What vit_embed() computes of an image: values of `kind`. */
enum vit_features {
  VIT_FEATURES_CLASS = 0,          /* the class token */
  VIT_FEATURES_MEAN = 1,           /* the mean of the patch tokens */
  VIT_FEATURES_PATCHES = 2,        /* every patch token, one after the other */
  VIT_FEATURES_CLASS_AND_MEAN = 3, /* the class token, then the mean */
  VIT_FEATURES_POOLED = 4          /* what the model's own classifier reads */
};

/* "0.1.0", of the library that is linked. */
const char* vit_version(void);

/* `model`: a folder, a weight file, or the name of a downloaded model; NULL or "": $VIT_MODEL, else
 * the bundled model. `threads`: workers that share an image; 0: all that this process may use.
 * NULL: failed. */
vit_classifier* vit_load(const char* model, size_t threads);
/* NULL is allowed. */
void vit_free(vit_classifier* classifier);

/* Number of classes; 0: failed, or the model has features only. */
size_t vit_class_count(const vit_classifier* classifier);

/* A JPEG, PNG, WebP, BMP, TIFF, GIF, HEIC or AVIF file. NULL: failed. */
vit_image* vit_read_image(const char* path);
/* The same from memory. `bytes` is not needed any more after the call. */
vit_image* vit_decode_image(const void* bytes, size_t size);
/* Rows of red, green and blue bytes, width * height * 3 of them, which are copied. NULL: failed. */
vit_image* vit_image_of_pixels(const unsigned char* rgb, size_t width, size_t height);
/* NULL is allowed. */
void vit_free_image(vit_image* image);

/* Writes the most probable classes, at most `count`, best first, and returns their number. 0:
 * failed.
 */
size_t vit_classify(const vit_classifier* classifier, const vit_image* image,
                    vit_prediction* predictions, size_t count);

/* How many numbers vit_embed() writes. 0: failed, or the model has no such features. */
size_t vit_feature_count(const vit_classifier* classifier, int kind);
/* Writes the features of an image and returns their number. 0: failed, also if `count`, the room in
 * `features`, is less than vit_feature_count(). */
size_t vit_embed(const vit_classifier* classifier, const vit_image* image, int kind,
                 float* features, size_t count);

/* What the last failed call of this thread says: "FILE or ARGUMENT: PROBLEM". "" before the first
 * failure. Valid until the next failed call of this thread. */
const char* vit_last_error(void);

#ifdef __cplusplus
}
#endif
