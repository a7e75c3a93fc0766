/* A host of a libbdl that has BLAS within it (BDL_BLAS=private): no second thread, and threads with small
   stacks. Prints which BLAS answers. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>

#include "bdl/bdl.h"

static void* nothing(void* argument) {
  return argument;
}

/* A thread with 20 kB: the thread-local storage of an OpenBLAS with threads alone takes 60. */
static int start_small(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  int failed = pthread_attr_init(&attributes) || pthread_attr_setstacksize(&attributes, 20 * 1024);
  failed = failed || pthread_create(&thread, &attributes, nothing, NULL) || pthread_join(thread, NULL);
  return failed;
}

static int count_threads(void) {
  int count = 0;
  DIR* tasks = opendir("/proc/self/task");
  const struct dirent* entry;
  if (!tasks) return -1;
  while ((entry = readdir(tasks)) != NULL) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

int main(void) {
  const int threads = count_threads();
  const int failed = start_small();
  printf("%s\n", bdl_build_info());
  fprintf(stderr, "%d threads after loading, a thread of 20 kB %s\n", threads, failed ? "fails" : "starts");
  return threads != 1 || failed;
}
