/* Calls that must be refused: the status, the message "function: ... argument ...", and that nothing has
 * changed. */
#ifndef BDL_REFUSED_H
#define BDL_REFUSED_H

#include "c_api_test.h"

/* Everything a call under test may write to, poisoned by watch(). */
static struct out {
  double matrix[77 * 32]; /* also of outputs that have 77 rows in place of theirs */
  double number, other;
  int64_t count, offset, rows, cols;
  const char *text, *more, *range, *doc;
  bdl_option_type type;
  bdl_model* model;
  bdl_posterior* posterior;
  bdl_optimizer* optimizer;
  bdl_search* search;
} out;

static const trained* watched; /* handles whose state must survive every refused call */
static snapshot state_before;

static inline void watch(const trained* t) {
  watched = t;
  if (t) state_before = snapshot_of(t);
  memset(&out, 0xA5, sizeof out);
}

static inline void complain(const char* call, const char* what, const char* file, int line) {
  print_error("%s\n  %s\n  last error: %s\n", call, what, bdl_last_error());
  _fail(file, line);
}

static inline void refused_at(bdl_status expected, const char* fragment, bdl_status got, const char* call,
                              const char* file, int line) {
  const size_t name = strcspn(call, "(");
  const char* message = bdl_last_error();
  const unsigned char* bytes = (const unsigned char*)&out;
  if (got != expected) {
    print_error("got %s, expected %s\n", bdl_status_name(got), bdl_status_name(expected));
    complain(call, "wrong status", file, line);
  }
  if (strncmp(message, call, name) != 0 || strncmp(message + name, ": ", 2) != 0)
    complain(call, "the message does not begin with the function's name", file, line);
  if (!strstr(message + name, fragment)) {
    print_error("expected the message to contain '%s'\n", fragment);
    complain(call, "wrong message", file, line);
  }
  for (size_t i = 0; i < sizeof out; ++i)
    if (bytes[i] != 0xA5) complain(call, "an output was written", file, line);
  if (!watched) return;
  const snapshot now = snapshot_of(watched);
  if (memcmp(&now, &state_before, sizeof now) != 0) complain(call, "a handle's state changed", file, line);
}

#define INVALID BDL_ERROR_INVALID_ARGUMENT
#define REFUSED(status, fragment, call) refused_at(status, fragment, call, #call, __FILE__, __LINE__)

/* The poisoned output as a matrix. */
static inline bdl_matrix_out into(int64_t rows, int64_t cols) {
  return bdl_f64_out(out.matrix, rows, cols);
}

/* An input whose elements all are 0.5. */
static inline bdl_matrix given(int64_t rows, int64_t cols) {
  static double values[1024];
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i) values[i] = 0.5;
  return bdl_f64(values, rows, cols);
}

/* The same, but for one element. The next call reuses the memory. */
static inline bdl_matrix spoiled(int64_t rows, int64_t cols, int64_t row, int64_t col, double value) {
  static double values[1024];
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i) values[i] = 0.5;
  values[row * cols + col] = value;
  return bdl_f64(values, rows, cols);
}

static inline double not_finite(int number) {
  return number == 0 ? (double)NAN : number == 1 ? (double)INFINITY : -(double)INFINITY;
}

/* An input or an output, which have the same layout. */
typedef struct bad_matrix {
  bdl_matrix matrix;
  bdl_matrix_out output;
  bdl_status status;
  char fragment[120];
} bad_matrix;

static inline bad_matrix bad(bdl_matrix matrix, bdl_status status, const char* name, const char* what) {
  bad_matrix b;
  b.matrix = matrix;
  memcpy(&b.output, &matrix, sizeof matrix);
  b.status = status;
  (void)snprintf(b.fragment, sizeof b.fragment, "%s%s", name, what);
  return b;
}

/* The faults that any array argument may have; m is correct. */
enum { BAD_SHAPES = 8 };
static inline bad_matrix bad_shape(int number, bdl_matrix m, const char* name) {
  bdl_matrix b = m;
  switch (number) {
    case 0:
      return bad(bdl_none(), BDL_ERROR_SHAPE, name, " is empty (0 x 0)");
    case 1:
      b.rows = 0;
      return bad(b, BDL_ERROR_SHAPE, name, " is empty (0 x");
    case 2:
      b.cols = 0;
      return bad(b, BDL_ERROR_SHAPE, name, " is empty");
    case 3:
      b.rows = -1;
      return bad(b, BDL_ERROR_SHAPE, name, " is -1 x");
    case 4:
      ++b.cols;
      return bad(b, BDL_ERROR_SHAPE, name, " has ");
    case 5:
      b.dtype = 0;
      return bad(b, BDL_ERROR_SHAPE, name, " has unknown dtype 0");
    case 6:
      b.dtype = 99;
      return bad(b, BDL_ERROR_SHAPE, name, " has unknown dtype 99");
    default:
      b.data = NULL;
      return bad(b, BDL_ERROR_INVALID_ARGUMENT, name, " has NULL data");
  }
}

/* Also what an output may have wrong. */
enum { BAD_OUTPUTS = BAD_SHAPES + 3 };
static inline bad_matrix bad_output(int number, bdl_matrix_out output, const char* name) {
  bdl_matrix m = bdl_as_input(output);
  if (number < BAD_SHAPES) return bad_shape(number, m, name);
  if (number == BAD_SHAPES) {
    m.dtype = BDL_I32;
    return bad(m, BDL_ERROR_SHAPE, name, " is an output of dtype i32");
  }
  if (number == BAD_SHAPES + 1) ++m.rows;
  if (number == BAD_SHAPES + 2 && m.rows * m.cols > 1) {
    m.row_stride = m.rows > 1 ? 0 : m.row_stride;
    m.col_stride = m.cols > 1 ? 0 : m.col_stride;
    return bad(m, BDL_ERROR_SHAPE, name, " is an output whose elements overlap");
  }
  m.rows = 77;
  return bad(m, BDL_ERROR_SHAPE, name, " has 77 rows");
}

/* The call names its argument `wrong`, once with each bad matrix: a rows x cols input, whatever the number of
 * rows. */
#define REFUSES_SHAPES(name, rows, cols, call)                         \
  for (int number = 0; number < BAD_SHAPES; ++number) {                \
    const bad_matrix b = bad_shape(number, given(rows, cols), name);   \
    const bdl_matrix wrong = b.matrix;                                 \
    refused_at(b.status, b.fragment, call, #call, __FILE__, __LINE__); \
  }

/* The same, and NaN and infinities are refused with their place. */
#define REFUSES_INPUTS(name, rows, cols, call)                                                        \
  do {                                                                                                \
    char place[120];                                                                                  \
    REFUSES_SHAPES(name, rows, cols, call)                                                            \
    (void)snprintf(place, sizeof place, "%s is not finite at row %d, column %d", name, (int)(rows)-1, \
                   (int)(cols)-1);                                                                    \
    for (int number = 0; number < 3; ++number) {                                                      \
      const bdl_matrix wrong = spoiled(rows, cols, (rows)-1, (cols)-1, not_finite(number));           \
      refused_at(BDL_ERROR_NOT_FINITE, place, call, #call, __FILE__, __LINE__);                       \
    }                                                                                                 \
  } while (0)

/* For precisions: zero, negative, NaN and infinite elements are refused with their place. */
#define REFUSES_PRECISIONS(name, cols, call)                                          \
  do {                                                                                \
    char place[120];                                                                  \
    const double not_positive[] = {0, -1, (double)NAN, (double)INFINITY};             \
    REFUSES_SHAPES(name, 1, cols, call)                                               \
    (void)snprintf(place, sizeof place, "at row 0, column %d", (int)(cols)-1);        \
    for (int number = 0; number < 4; ++number) {                                      \
      const bdl_matrix wrong = spoiled(1, cols, 0, (cols)-1, not_positive[number]);   \
      refused_at(BDL_ERROR_INVALID_ARGUMENT, place, call, #call, __FILE__, __LINE__); \
    }                                                                                 \
  } while (0)

/* A rows x cols output. */
#define REFUSES_OUTPUTS(name, rows, cols, call) REFUSES_SOME_OUTPUTS(BAD_OUTPUTS, name, rows, cols, call)

/* The first kinds only: an output of any number of rows. */
#define REFUSES_SOME_OUTPUTS(kinds, name, rows, cols, call)            \
  for (int number = 0; number < (kinds); ++number) {                   \
    const bad_matrix b = bad_output(number, into(rows, cols), name);   \
    const bdl_matrix_out wrong = b.output;                             \
    refused_at(b.status, b.fragment, call, #call, __FILE__, __LINE__); \
  }

#endif
