/* c_program MODEL IMAGE NO_IMAGE: calls every function of vit_c.h as a C program does, with right
 * and with wrong arguments, from four threads, and prints the first three classes. */
#include <vit/vit_c.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kThreads = 4, kTop = 3 };

static int failures = 0;

static void check(int right, const char* what, int line) {
  if (right) return;
  fprintf(stderr, "line %d: %s; the last error is '%s'\n", line, what, vit_last_error());
  ++failures;
}

/* A call that has to fail, the place and a part of the message that it has to leave. */
static void refused(int failed, const char* where, const char* part, int line) {
  check(failed, "a wrong call succeeded", line);
  check(strncmp(vit_last_error(), where, strlen(where)) == 0, "the error is about another place",
        line);
  check(strstr(vit_last_error(), part) != NULL, "the error says something else", line);
}

struct task {
  const vit_classifier* classifier;
  const vit_image* image;
  vit_prediction best[kTop];
  size_t count;
  int own_error; /* another thread's error is not seen here */
};

static void* classify(void* argument) {
  struct task* task = argument;
  task->own_error = strcmp(vit_last_error(), "") == 0;
  task->count = vit_classify(task->classifier, task->image, task->best, kTop);
  return NULL;
}

static void classify_from_threads(const vit_classifier* classifier, const vit_image* image) {
  pthread_t threads[kThreads];
  struct task tasks[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    tasks[i].classifier = classifier;
    tasks[i].image = image;
    check(pthread_create(&threads[i], NULL, classify, &tasks[i]) == 0, "no thread", __LINE__);
  }
  for (int i = 0; i < kThreads; ++i) {
    pthread_join(threads[i], NULL);
    check(tasks[i].own_error, "a thread sees the error of another", __LINE__);
    check(tasks[i].count == kTop, "too few classes", __LINE__);
    for (int k = 0; k < kTop; ++k)
      check(tasks[i].best[k].index == tasks[0].best[k].index &&
                tasks[i].best[k].probability == tasks[0].best[k].probability,
            "threads disagree", __LINE__);
  }
  for (int k = 0; k < kTop; ++k)
    printf("%s %g\n", tasks[0].best[k].label, (double)tasks[0].best[k].probability);
}

static void embed(const vit_classifier* classifier, const vit_image* image) {
  const size_t count = vit_feature_count(classifier, VIT_FEATURES_MEAN);
  float* features = malloc((count + 1) * sizeof(float));
  double sum = 0.0;
  check(count > 0 && features != NULL, "no features", __LINE__);
  features[count] = 7.0f;
  check(vit_embed(classifier, image, VIT_FEATURES_MEAN, features, count + 1) == count,
        "no features", __LINE__);
  for (size_t i = 0; i < count; ++i) sum += (double)features[i] * features[i];
  check(sum > 0.0, "the features are zero", __LINE__);
  check(features[count] == 7.0f, "written beyond the features", __LINE__);
  refused(vit_embed(classifier, image, VIT_FEATURES_MEAN, features, count - 1) == 0, "count",
          "expected at least", __LINE__);
  refused(vit_embed(classifier, image, 99, features, count) == 0, "kind", "got 99, expected 0 to 4",
          __LINE__);
  refused(vit_embed(NULL, image, VIT_FEATURES_MEAN, features, count) == 0, "classifier", "got NULL",
          __LINE__);
  refused(vit_embed(classifier, NULL, VIT_FEATURES_MEAN, features, count) == 0, "image", "got NULL",
          __LINE__);
  refused(vit_embed(classifier, image, VIT_FEATURES_MEAN, NULL, count) == 0, "features", "got NULL",
          __LINE__);
  free(features);
}

static void refuse_images(const char* no_image) {
  const unsigned char pixel[3] = {1, 2, 3};
  refused(vit_read_image(NULL) == NULL, "path", "got NULL", __LINE__);
  refused(vit_read_image("no/such.png") == NULL, "no/such.png", "no such file", __LINE__);
  refused(vit_read_image(no_image) == NULL, no_image,
          "not a JPEG, PNG, WebP, BMP, TIFF, GIF, HEIC or AVIF image", __LINE__);
  refused(vit_decode_image(NULL, 3) == NULL, "bytes", "got NULL", __LINE__);
  refused(vit_decode_image(pixel, 0) == NULL, "image", "empty", __LINE__);
  refused(vit_decode_image(pixel, 3) == NULL, "image", "not a JPEG", __LINE__);
  refused(vit_image_of_pixels(NULL, 1, 1) == NULL, "rgb", "got NULL", __LINE__);
  refused(vit_image_of_pixels(pixel, 0, 1) == NULL, "image size", "got 0x1", __LINE__);
  refused(vit_image_of_pixels(pixel, (size_t)-1, 2) == NULL, "image size", "expected at least 1x1",
          __LINE__);
}

static void refuse_the_rest(const vit_classifier* classifier, const vit_image* image) {
  vit_prediction best[kTop];
  refused(vit_load("no/such/model", 1) == NULL, "no/such/model", "no such file or folder",
          __LINE__);
  refused(vit_class_count(NULL) == 0, "classifier", "got NULL", __LINE__);
  refused(vit_feature_count(NULL, VIT_FEATURES_MEAN) == 0, "classifier", "got NULL", __LINE__);
  refused(vit_feature_count(classifier, -1) == 0, "kind", "got -1, expected 0 to 4", __LINE__);
  refused(vit_classify(NULL, image, best, kTop) == 0, "classifier", "got NULL", __LINE__);
  refused(vit_classify(classifier, NULL, best, kTop) == 0, "image", "got NULL", __LINE__);
  refused(vit_classify(classifier, image, NULL, kTop) == 0, "predictions", "got NULL", __LINE__);
  refused(vit_classify(classifier, image, best, 0) == 0, "count", "got 0", __LINE__);
  vit_free(NULL);
  vit_free_image(NULL);
}

int main(int count, char** arguments) {
  if (count != 4) return 2;
  check(strcmp(vit_last_error(), "") == 0, "an error before the first call", __LINE__);
  check(strlen(vit_version()) >= 5, "no version", __LINE__);
  vit_classifier* classifier = vit_load(arguments[1], 1);
  vit_image* image = vit_read_image(arguments[2]);
  check(classifier != NULL && image != NULL, "cannot load", __LINE__);
  if (failures != 0) return 1;
  check(vit_class_count(classifier) >= kTop, "too few classes", __LINE__);
  refuse_images(arguments[3]);
  refuse_the_rest(classifier, image);
  embed(classifier, image);
  classify_from_threads(classifier, image);
  vit_free_image(image);
  vit_free(classifier);
  return failures == 0 ? 0 : 1;
}
