/* Trampolines of communicators: bytes that ranks swap are raw vectors. They run after a failure, too, which
   they tell the others. */
#include <string.h>

#include "support.h"

enum { ALL_GATHER, EXCHANGE, SIZE, TOKEN, PARTS };

SEXP bdlr_moves(SEXP value, SEXP size, const char* function, const char* argument) {
  if (TYPEOF(value) != VECSXP || LENGTH(value) != 2 || !Rf_isFunction(VECTOR_ELT(value, 0)) ||
      !Rf_isFunction(VECTOR_ELT(value, 1)))
    bdlr_refuse(function, argument, "list(all_gather, exchange), functions", value);
  SEXP moves = PROTECT(Rf_allocVector(VECSXP, PARTS));
  SET_VECTOR_ELT(moves, ALL_GATHER, VECTOR_ELT(value, 0));
  SET_VECTOR_ELT(moves, EXCHANGE, VECTOR_ELT(value, 1));
  SET_VECTOR_ELT(moves, SIZE, size);
  SET_VECTOR_ELT(moves, TOKEN, R_MakeUnwindCont());
  UNPROTECT(1);
  return moves;
}

typedef struct messages {
  SEXP moves;
  int32_t peer;
  const void* send;
  int64_t send_bytes;
  unsigned char* receive;
  const int64_t* receive_bytes;
} messages;

static SEXP as_raw(const messages* m) {
  SEXP copy = Rf_allocVector(RAWSXP, (R_xlen_t)m->send_bytes);
  memcpy(RAW(copy), m->send, (size_t)m->send_bytes);
  return copy;
}

static void take(SEXP message, int64_t bytes, unsigned char* to, const char* what, int rank) {
  if (TYPEOF(message) != RAWSXP || XLENGTH(message) != bytes)
    bdlr_raise(BDL_ERROR_CALLBACK,
               "%s: the message of rank %d must be a raw vector of length %.0f, got %s of length %.0f", what,
               rank, (double)bytes, Rf_type2char(TYPEOF(message)), (double)Rf_xlength(message));
  memcpy(to, RAW(message), (size_t)bytes);
}

static SEXP call_all_gather(void* data) {
  static const char* const names[] = {"all_gather", "message"};
  const messages* m = data;
  const int size = Rf_asInteger(VECTOR_ELT(m->moves, SIZE));
  SEXP message = PROTECT(as_raw(m));
  const SEXP values[] = {VECTOR_ELT(m->moves, ALL_GATHER), message};
  SEXP all = PROTECT(bdlr_call_by_names(names, values, 2));
  if (TYPEOF(all) != VECSXP || XLENGTH(all) != size)
    bdlr_raise(BDL_ERROR_CALLBACK,
               "all_gather must return a list of the messages of %d ranks, got %s of length %.0f", size,
               Rf_type2char(TYPEOF(all)), (double)Rf_xlength(all));
  unsigned char* to = m->receive;
  for (int rank = 0; rank < size; to += m->receive_bytes[rank], ++rank)
    take(VECTOR_ELT(all, rank), m->receive_bytes[rank], to, "all_gather", rank);
  UNPROTECT(2);
  return R_NilValue;
}

int32_t bdlr_on_all_gather(void* user_data, const void* send, int64_t send_bytes, void* receive,
                           const int64_t* receive_bytes) {
  messages m = {user_data, -1, send, send_bytes, receive, receive_bytes};
  return bdlr_protected_always(call_all_gather, &m, VECTOR_ELT(m.moves, TOKEN));
}

static SEXP call_exchange(void* data) {
  static const char* const names[] = {"exchange", "peer", "message"};
  const messages* m = data;
  SEXP peer = PROTECT(Rf_ScalarInteger(m->peer)), message = PROTECT(as_raw(m));
  const SEXP values[] = {VECTOR_ELT(m->moves, EXCHANGE), peer, message};
  take(PROTECT(bdlr_call_by_names(names, values, 3)), *m->receive_bytes, m->receive, "exchange", m->peer);
  UNPROTECT(3);
  return R_NilValue;
}

int32_t bdlr_on_exchange(void* user_data, int32_t peer, const void* send, int64_t send_bytes, void* receive,
                         int64_t receive_bytes) {
  messages m = {user_data, peer, send, send_bytes, receive, &receive_bytes};
  return bdlr_protected_always(call_exchange, &m, VECTOR_ELT(m.moves, TOKEN));
}
