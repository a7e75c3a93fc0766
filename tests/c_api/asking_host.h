/* A host that long calls ask, and that measures the longest gap between two questions. */
#ifndef BDL_ASKING_HOST_H
#define BDL_ASKING_HOST_H

#include <time.h>

#include "c_api_test.h"

/* Processor time of this thread: what other processes do is no gap. */
static double seconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SLOW 1
#endif
#endif
#ifdef SLOW
static const double longest_gap = 2; /* instrumented code is that much slower */
#else
static const double longest_gap = 0.3; /* as documented */
#endif

typedef struct host {
  double last, gap, longest, stopped_at; /* gap: of this call */
  int asked, stop_at;                    /* 0: never */
} host;

static void note(host* h) {
  const double now = seconds();
  if (now - h->last > h->gap) h->gap = now - h->last;
  h->last = now;
}

static int32_t ask(void* user_data) {
  host* const h = user_data;
  note(h);
  if (++h->asked != h->stop_at) return 0;
  h->stopped_at = h->last;
  return 1;
}

/* Makes a call and measures the times from its start to the first question, between questions, and from the
 * last one to the return. */
static bdl_status timed(host* h, const char* where, bdl_status (*call)(void*), void* argument) {
  bdl_status status;
  h->last = seconds();
  h->gap = 0;
  bdl_set_interrupt(ask, h);
  status = call(argument);
  bdl_set_interrupt(NULL, NULL);
  note(h);
  if (h->gap > longest_gap) print_error("%s: %.0f ms without asking\n", where, 1e3 * h->gap);
  if (h->gap > h->longest) h->longest = h->gap;
  return status;
}

#endif
