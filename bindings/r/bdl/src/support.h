/* Functions of which the generated wrapper is made: values of R become C ones and back, failures become R conditions,
   and R code that the library calls may jump without jumping over the library. */
#ifndef BDLR_SUPPORT_H
#define BDLR_SUPPORT_H

#include <bdl/bdl.h>
#include <setjmp.h>
#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>

/* Conditions (conditions.c). None of these returns after a failure; no C++ frame is on the stack then. */
void bdlr_raise(bdl_status status, const char* format, ...);
void bdlr_refuse(const char* function, const char* argument, const char* expected, SEXP got);
void bdlr_check(bdl_status status);

/* A call into the library in progress (calls.c). */
typedef struct bdlr_call {
  struct bdlr_call* outer; /* the call whose callback made this one */
  double number;           /* counts calls; handles remember the one they were made in */
  SEXP token;              /* of R_UnwindProtect */
  jmp_buf back;            /* into the trampoline that R code jumped out of */
  int jumped;              /* R code did: go on with that jump when the library has returned */
} bdlr_call;

void bdlr_call_begin(bdlr_call* call);
void bdlr_call_end(bdlr_call* call);
double bdlr_current_call(void); /* 0: none */
/* Runs body; 0 if it returned, 1 if it jumped (now or earlier in this call): make the library return. */
int bdlr_protected(SEXP (*body)(void*), void* data);
/* As above, for calls that other processes wait for: also while a jump waits, which goes on later. Then the body's
   own jump, for which there is this other token, is dropped. */
int bdlr_protected_always(SEXP (*body)(void*), void* data, SEXP token);

/* Handles (handles.c). */
typedef enum bdlr_kind {
  BDLR_MODEL,
  BDLR_POSTERIOR,
  BDLR_OPTIMIZER,
  BDLR_PREDICTOR,
  BDLR_SEARCH,
  BDLR_DATASET,
  BDLR_COMMUNICATOR
} bdlr_kind;
SEXP bdlr_new_handle(bdlr_kind kind);             /* empty, unprotected; freed by R's collector */
SEXP bdlr_view_posterior(const bdl_posterior* q); /* not freed: for the time of a callback */
void* bdlr_handle(SEXP value, bdlr_kind kind, int changes, const char* function, const char* argument);
/* R functions live as long as the handles whose objects call them. */
void bdlr_keep_functions(SEXP handle, SEXP functions);
void bdlr_keep_draws(SEXP handle, SEXP draws);
void bdlr_keep_communicator(SEXP handle, SEXP communicator);
void bdlr_keep_array(SEXP handle, int which, SEXP array); /* 0: x, 1: y; not to be collected or written to */
void bdlr_inherit(SEXP made, SEXP from); /* made: a handle, a list with handles, or anything else */
/* Converts a list of lists (model, posterior), in memory of R_alloc(); what is made of them keeps their functions.
 */
const bdl_model** bdlr_members(SEXP value, const bdl_posterior*** posteriors, int64_t* count,
                               const char* function, const char* argument);
void bdlr_inherit_members(SEXP made, SEXP members);
void bdl_handle_close(SEXP handle);
int32_t bdl_handle_is_open(SEXP handle);

/* Functions of libbdl_mpi (mpi.c). */
bdl_status bdl_mpi_start_world(double timeout, bdl_communicator** communicator);
bdl_status bdl_mpi_from_fortran(int32_t handle, double timeout, bdl_communicator** communicator);

/* Scalars and strings (scalars.c). */
double bdlr_double(SEXP value, const char* function, const char* argument);
int64_t bdlr_int64(SEXP value, const char* function, const char* argument);
uint64_t bdlr_uint64(SEXP value, const char* function, const char* argument);
int32_t bdlr_int32(SEXP value, const char* function, const char* argument);
int bdlr_logical(SEXP value, const char* function, const char* argument);
const char* bdlr_string(SEXP value, const char* function, const char* argument);
SEXP bdlr_from_string(const char* value); /* NULL: R's NULL */

/* Arrays (arrays.c). The views point into R's own memory. */
bdl_matrix bdlr_matrix(SEXP value, int vector_is_row, const char* function, const char* argument);
bdl_matrix_out bdlr_matrix_out(SEXP dimensions, SEXP* result, const char* function, const char* argument);
const int64_t* bdlr_integers(SEXP value, int64_t* count, const char* function, const char* argument);
/* Converts a named list of matrices, in memory of R_alloc(); vectors are rows. */
const char** bdlr_tensors(SEXP value, bdl_matrix** matrices, int64_t* count, const char* function,
                          const char* argument);
SEXP bdlr_bytes_out(SEXP capacity, const char* function, const char* argument);
const void* bdlr_bytes(SEXP value, int64_t* size, const char* function, const char* argument);
SEXP bdlr_from_view(bdl_matrix view);                                 /* a copy */
void bdlr_to_view(SEXP value, bdl_matrix_out view, const char* what); /* a copy */

/* Outputs (outputs.c): n counts from 1; after the last, what R gets: a named list, or the only one. */
SEXP bdlr_output(SEXP list, int n, const char* name, SEXP value);
SEXP bdlr_from_report(const bdl_ood_report* report); /* a named list of numbers */

/* Trampolines (callbacks.c). Their user data is an R function, of progress a pair of function and handle, of
   custom models a list of two functions, of data sets a function, of communicators bdlr_moves(): two functions
   and the number of ranks. */
SEXP bdlr_function(SEXP value, const char* function, const char* argument);
SEXP bdlr_functions(SEXP value, const char* function, const char* argument);
SEXP bdlr_moves(SEXP value, SEXP size, const char* function, const char* argument);
int32_t bdlr_on_interrupt(void* unused);
int32_t bdlr_on_progress(void* user_data, const bdl_optimizer* optimizer);
int32_t bdlr_on_search_progress(void* user_data, const bdl_search* search);
int32_t bdlr_on_outputs(void* user_data, bdl_matrix parameters, bdl_matrix inputs, bdl_matrix_out outputs);
int32_t bdlr_on_gradients(void* user_data, bdl_matrix parameters, bdl_matrix inputs,
                          bdl_matrix output_gradients, bdl_matrix_out rows);
int32_t bdlr_on_read(void* user_data, const int64_t* rows, int64_t count, bdl_matrix_out x, bdl_matrix_out y);
int32_t bdlr_on_draws(void* user_data, bdl_draw_kind kind, int64_t step, int64_t iteration,
                      const bdl_posterior* q, bdl_matrix_out draws);
int32_t bdlr_on_all_gather(void* user_data, const void* send, int64_t send_bytes, void* receive,
                           const int64_t* receive_bytes);
int32_t bdlr_on_exchange(void* user_data, int32_t peer, const void* send, int64_t send_bytes, void* receive,
                         int64_t receive_bytes);
/* A call by names, values[0] being the function: errors show outputs(parameters, inputs), not the numbers. */
SEXP bdlr_call_by_names(const char* const* names, const SEXP* values, int count);

#endif
