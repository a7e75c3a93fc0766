/* Calls in progress. R code that the library calls may jump (errors, restarts, Ctrl-C): the jump is caught in
   the trampoline, the library returns through its own frames, and the jump goes on from here. */
#include "support.h"

static bdlr_call* current;
static double counter;

double bdlr_current_call(void) {
  return current ? current->number : 0;
}

void bdlr_call_begin(bdlr_call* call) {
  call->token = PROTECT(R_MakeUnwindCont());
  call->number = ++counter;
  call->jumped = 0;
  call->outer = current;
  current = call;
  bdl_set_interrupt(bdlr_on_interrupt, NULL);
}

void bdlr_call_end(bdlr_call* call) {
  current = call->outer;
  if (!current) bdl_set_interrupt(NULL, NULL);
  if (call->jumped) R_ContinueUnwind(call->token);
  UNPROTECT(1);
}

static void after(void* data, Rboolean jumps) {
  bdlr_call* call = data;
  if (!jumps) return;
  call->jumped = 1;
  longjmp(call->back, 1);
}

int bdlr_protected(SEXP (*body)(void*), void* data) {
  bdlr_call* call = current;
  if (!call || call->jumped) return 1;
  if (setjmp(call->back)) return 1;
  R_UnwindProtect(body, data, after, call, call->token);
  return 0;
}

int bdlr_protected_always(SEXP (*body)(void*), void* data, SEXP token) {
  if (!current || !current->jumped) return bdlr_protected(body, data);
  bdlr_call last = {.token = token};
  if (setjmp(last.back)) return 1;
  R_UnwindProtect(body, data, after, &last, token);
  return 0;
}

static SEXP check_interrupt(void* unused) {
  (void)unused;
  R_CheckUserInterrupt();
  return R_NilValue;
}

int32_t bdlr_on_interrupt(void* unused) {
  (void)unused;
  return bdlr_protected(check_interrupt, NULL);
}
