/* Reading a regression data set, splitting and standardising it: what every example needs and no Bayesian
 * needs to see. */
#ifndef DATASET_H
#define DATASET_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Row-major numbers; the last column is the target. */
typedef struct dataset {
  int64_t rows, cols;
  double* values;
} dataset;

/* Comma-separated numbers, one example per line. All functions end the program with a message if they cannot
 * do it. */
dataset dataset_read(const char* path);

/* Line number `split` of rows_path lists the 0-based test rows; the others train. */
void dataset_split(const dataset* all, const char* rows_path, int split, dataset* train, dataset* test);

/* Gives every column of train mean 0 and standard deviation 1 (constant ones are only centred), test the same
   transformation, and returns the target's standard deviation. */
double dataset_standardise(dataset* train, dataset* test);

void dataset_free(dataset* data);

/* Seconds since an arbitrary moment; processor seconds of this thread; peak resident memory of this process
 * so far. */
double seconds_now(void);
double cpu_seconds(void);
double peak_megabytes(void);

#ifdef __cplusplus
}
#endif

#endif
