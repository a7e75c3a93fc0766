#define _XOPEN_SOURCE 700
#include "dataset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static void stop(const char* what, const char* path) {
  fprintf(stderr, "%s: %s\n", path, what);
  exit(1);
}

static double* allocate(int64_t count) {
  double* values = malloc((size_t)(count > 0 ? count : 1) * sizeof *values);
  if (!values) stop("out of memory", "dataset");
  return values;
}

static char* read_file(const char* path) {
  FILE* file = fopen(path, "rb");
  if (!file) stop("cannot be opened", path);
  char* text = NULL;
  size_t size = 0, capacity = 0;
  do {
    if (size + 65536 > capacity) capacity = 2 * capacity + 65537;
    text = realloc(text, capacity);
    if (!text) stop("out of memory", path);
    size += fread(text + size, 1, 65536, file);
  } while (!feof(file) && !ferror(file));
  if (ferror(file)) stop("cannot be read", path);
  fclose(file);
  text[size] = '\0';
  return text;
}

dataset dataset_read(const char* path) {
  char *text = read_file(path), *end = NULL;
  int64_t count = 0, capacity = 0;
  dataset data = {0, 0, NULL};
  for (char* at = text; *at;) {
    if (count == capacity) {
      capacity = 2 * capacity + 1024;
      data.values = realloc(data.values, (size_t)capacity * sizeof *data.values);
      if (!data.values) stop("out of memory", path);
    }
    data.values[count] = strtod(at, &end);
    if (end == at) stop("is not comma-separated numbers", path);
    ++count;
    if (*end == '\r') ++end;
    if (*end == '\n' && data.rows++ == 0) data.cols = count;
    at = *end ? end + 1 : end;
  }
  free(text);
  if (data.rows == 0 || data.rows * data.cols != count) stop("has lines of different lengths", path);
  return data;
}

void dataset_split(const dataset* all, const char* rows_path, int split, dataset* train, dataset* test) {
  char *text = read_file(rows_path), *line = text, *is_test = calloc((size_t)all->rows, 1);
  if (!is_test) stop("out of memory", rows_path);
  for (int i = 0; i < split; ++i) {
    line = strchr(line, '\n');
    if (!line++) stop("has too few splits", rows_path);
  }
  int64_t test_rows = 0;
  for (char* end = line; *line && *line != '\n'; line = *end == ',' ? end + 1 : end) {
    const long row = strtol(line, &end, 10);
    if (end == line || row < 0 || row >= all->rows) stop("has a bad row number", rows_path);
    test_rows += !is_test[row];
    is_test[row] = 1;
  }
  train->rows = test->rows = 0;
  train->cols = test->cols = all->cols;
  train->values = allocate((all->rows - test_rows) * all->cols);
  test->values = allocate(test_rows * all->cols);
  for (int64_t i = 0; i < all->rows; ++i) {
    dataset* part = is_test[i] ? test : train;
    memcpy(part->values + part->rows++ * all->cols, all->values + i * all->cols,
           (size_t)all->cols * sizeof(double));
  }
  free(is_test);
  free(text);
}

double dataset_standardise(dataset* train, dataset* test) {
  double sd = 1;
  for (int64_t j = 0; j < train->cols; ++j) {
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < train->rows; ++i)
      mean += train->values[i * train->cols + j] / (double)train->rows;
    for (int64_t i = 0; i < train->rows; ++i)
      variance += pow(train->values[i * train->cols + j] - mean, 2) / (double)train->rows;
    sd = sqrt(variance) > 1e-10 * (1 + fabs(mean)) ? sqrt(variance) : 1;
    for (int part = 0; part < 2; ++part) {
      dataset* data = part ? test : train;
      for (int64_t i = 0; i < data->rows; ++i)
        data->values[i * data->cols + j] = (data->values[i * data->cols + j] - mean) / sd;
    }
  }
  return sd;
}

void dataset_free(dataset* data) {
  free(data->values);
  data->values = NULL;
}

static double seconds_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double seconds_now(void) {
  return seconds_of(CLOCK_MONOTONIC);
}

double cpu_seconds(void) {
  return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

double peak_megabytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_maxrss / 1024;
}
