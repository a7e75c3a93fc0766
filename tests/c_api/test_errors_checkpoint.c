/* Calls that bdl_save() and bdl_load() refuse: wrong arguments, files that are missing, unreadable,
 * truncated, or not checkpoints. */
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "refused.h"

static char folder[] = "/tmp/bdl-checkpoint-XXXXXX";
static char path[512]; /* a good checkpoint of everything */
static trained t;

static const char* in_folder(const char* name) {
  static char full[512];
  (void)snprintf(full, sizeof full, "%s/%s", folder, name);
  return full;
}

static int setup(void** state) {
  (void)state;
  if (!mkdtemp(folder)) return -1;
  t = trained_create(BDL_F64, BDL_GAUSSIAN, 2);
  (void)snprintf(path, sizeof path, "%s/good.safetensors", folder);
  OK(bdl_save(path, NULL, NULL, t.optimizer));
  watch(&t);
  return 0;
}

static int teardown(void** state) {
  (void)state;
  trained_free(&t);
  (void)unlink(path);
  return rmdir(folder); /* fails if a temporary file was left behind */
}

static bdl_status load(const char* file) {
  return bdl_load(file, NULL, &out.model, &out.posterior, &out.optimizer);
}
#define LOAD(status, fragment, file) \
  refused_at(status, fragment, load(file), "bdl_load(" #file ")", __FILE__, __LINE__)

static void write_file(const char* name, const void* bytes, size_t size) {
  FILE* file = fopen(name, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static unsigned char* contents(size_t* size) {
  FILE* file = fopen(path, "rb");
  unsigned char* bytes = (unsigned char*)malloc(1 << 20);
  assert_non_null(file);
  assert_non_null(bytes);
  *size = fread(bytes, 1, 1 << 20, file);
  assert_true(*size > 1000 && *size < (1 << 20));
  (void)fclose(file);
  return bytes;
}

static void test_arguments(void** state) {
  trained other = trained_create(BDL_F64, BDL_GAUSSIAN, 2), single = trained_create(BDL_F32, BDL_GAUSSIAN, 2);
  (void)state;
  REFUSED(INVALID, "path is NULL", bdl_save(NULL, t.model, NULL, NULL));
  REFUSED(INVALID, "NULL", bdl_save(path, NULL, NULL, NULL));
  REFUSED(INVALID, "model is not", bdl_save(path, other.model, NULL, t.optimizer));
  REFUSED(INVALID, "posterior is not", bdl_save(path, NULL, other.posterior, t.optimizer));
  REFUSED(BDL_ERROR_SHAPE, "f32", bdl_save(path, t.model, single.posterior, NULL));
  REFUSED(INVALID, "path is NULL", bdl_load(NULL, NULL, &out.model, &out.posterior, &out.optimizer));
  OK(bdl_save(path, t.model, t.posterior, t.optimizer)); /* the optimizer's own */
  trained_free(&other);
  trained_free(&single);
}

/* The bytes are those of the file, and are trusted no more than it is. */
static void test_bytes(void** state) {
  char bytes[1 << 15];
  unsigned char* file;
  size_t file_size;
  int64_t size;
  (void)state;
  OK(bdl_save(path, NULL, NULL, t.optimizer));
  file = contents(&file_size);
  OK(bdl_save_bytes(NULL, NULL, t.optimizer, bytes, sizeof bytes, &size));
  assert_int_equal(size, file_size);
  assert_memory_equal(bytes, file, file_size);
  free(file);
  REFUSED(INVALID, "all NULL", bdl_save_bytes(NULL, NULL, NULL, bytes, sizeof bytes, &out.count));
  REFUSED(INVALID, "size is NULL", bdl_save_bytes(NULL, NULL, t.optimizer, bytes, sizeof bytes, NULL));
  REFUSED(INVALID, "buffer is NULL", bdl_save_bytes(NULL, NULL, t.optimizer, NULL, 1, &out.count));
  REFUSED(BDL_ERROR_SHAPE, "capacity is 7", bdl_save_bytes(NULL, NULL, t.optimizer, bytes, 7, &out.count));
  REFUSED(INVALID, "bytes is NULL",
          bdl_load_bytes(NULL, size, NULL, &out.model, &out.posterior, &out.optimizer));
  REFUSED(INVALID, "size is -1", bdl_load_bytes(bytes, -1, NULL, &out.model, &out.posterior, &out.optimizer));
  for (int64_t cut = 0; cut < size; cut += 97)
    REFUSED(BDL_ERROR_FORMAT, "",
            bdl_load_bytes(bytes, cut, NULL, &out.model, &out.posterior, &out.optimizer));
}

static void test_parts(void** state) {
  char name[512];
  int32_t model = 7, user_model = 7, posterior = 7, optimizer = 7;
  (void)state;
  OK(bdl_checkpoint_parts(path, &model, &user_model, &posterior, &optimizer));
  assert_true(model == 1 && user_model == 0 && posterior == 1 && optimizer == 1);
  OK(bdl_checkpoint_parts(path, NULL, NULL, NULL, NULL));
  (void)snprintf(name, sizeof name, "%s", in_folder("noise"));
  write_file(name, "no checkpoint", 13);
  model = 7;
  REFUSED(BDL_ERROR_FORMAT, "", bdl_checkpoint_parts(name, &model, NULL, NULL, NULL));
  assert_int_equal(model, 7);
  assert_int_equal(unlink(name), 0);
  REFUSED(BDL_ERROR_FILE, "noise", bdl_checkpoint_parts(name, &model, NULL, NULL, NULL));
  REFUSED(INVALID, "path is NULL", bdl_checkpoint_parts(NULL, &model, NULL, NULL, NULL));
}

static void test_unwritable(void** state) {
  (void)state;
  REFUSED(BDL_ERROR_FILE, "", bdl_save(in_folder("no/such/folder/file"), t.model, t.posterior, NULL));
  REFUSED(BDL_ERROR_FILE, "", bdl_save(folder, t.model, t.posterior, NULL)); /* a directory */
  REFUSED(BDL_ERROR_FILE, "", bdl_save("", t.model, t.posterior, NULL));
}

static void test_unreadable(void** state) {
  char name[512];
  (void)state;
  LOAD(BDL_ERROR_FILE, "absent", in_folder("absent"));
  LOAD(BDL_ERROR_FILE, "", folder);
  LOAD(BDL_ERROR_FILE, "", "");
  (void)snprintf(name, sizeof name, "%s", in_folder("secret"));
  write_file(name, "x", 1);
  assert_int_equal(chmod(name, 0), 0);
  LOAD(geteuid() == 0 ? BDL_ERROR_FORMAT : BDL_ERROR_FILE, "", name); /* root may read everything */
  assert_int_equal(unlink(name), 0);
}

/* One wrong bit in any tensor is told, with its name. */
static void test_bit_rot(void** state) {
  char name[512];
  size_t size, data = 8;
  unsigned char* bytes = contents(&size);
  (void)state;
  for (size_t i = 0; i < 8; ++i) data += (size_t)bytes[i] << (8 * i);
  assert_true(data < size - 100);
  for (size_t i = data; i < size; i += 3) {
    bytes[i] ^= (unsigned char)(1 << i % 8);
    REFUSED(BDL_ERROR_FORMAT, "' is damaged: its checksum is ",
            bdl_load_bytes(bytes, (int64_t)size, NULL, &out.model, &out.posterior, &out.optimizer));
    bytes[i] ^= (unsigned char)(1 << i % 8);
  }
  (void)snprintf(name, sizeof name, "%s", in_folder("rotten"));
  bytes[data] ^= 1;
  write_file(name, bytes, size);
  LOAD(BDL_ERROR_FORMAT, ": tensor '", name);
  LOAD(BDL_ERROR_FORMAT, name, name);
  OK(bdl_checkpoint_parts(name, NULL, NULL, NULL, NULL)); /* the header says what there is */
  assert_int_equal(unlink(name), 0);
  free(bytes);
}

static void test_damaged(void** state) {
  char name[512];
  size_t size;
  unsigned char* bytes = contents(&size);
  (void)state;
  (void)snprintf(name, sizeof name, "%s", in_folder("damaged"));
  for (size_t keep = 0; keep < size; keep += keep < 16 || size - keep < 16 ? 1 : 37) {
    write_file(name, bytes, keep);
    LOAD(BDL_ERROR_FORMAT, "", name);
  }
  bytes[size] = 0; /* one byte too many; the buffer has room */
  write_file(name, bytes, size + 1);
  LOAD(BDL_ERROR_FORMAT, "", name);
  write_file(name, "not a checkpoint at all", 23);
  LOAD(BDL_ERROR_FORMAT, "", name);
  free(bytes);
  assert_int_equal(unlink(name), 0);
}

/* One byte of the description changed, where no checksum tells: refused, or still a valid file, but never a
 * crash. */
static void test_changed_descriptions(void** state) {
  char name[512];
  size_t size, refused = 0;
  unsigned char* bytes = contents(&size);
  (void)state;
  (void)snprintf(name, sizeof name, "%s", in_folder("changed"));
  drop_checksums(bytes, size);
  for (size_t i = 8; i < 1500 && i < size; ++i) {
    bdl_optimizer* o = NULL;
    const unsigned char old = bytes[i];
    bytes[i] = old == '9' ? '8' : '9';
    write_file(name, bytes, size);
    if (bdl_load(name, NULL, NULL, NULL, &o) == BDL_OK)
      assert_non_null(o);
    else
      ++refused;
    bdl_optimizer_free(o);
    bytes[i] = old;
  }
  assert_true(refused > 100);
  free(bytes);
  assert_int_equal(unlink(name), 0);
}

/* A plain safetensors file with no tensors, and no checkpoint. */
static void test_foreign_file(void** state) {
  const char header[] = "\x02\0\0\0\0\0\0\0{}";
  char name[512];
  (void)state;
  (void)snprintf(name, sizeof name, "%s", in_folder("foreign"));
  write_file(name, header, sizeof header - 1);
  LOAD(BDL_ERROR_FORMAT, "", name);
  assert_int_equal(unlink(name), 0);
}

static void test_missing_parts(void** state) {
  char name[512];
  (void)state;
  (void)snprintf(name, sizeof name, "%s", in_folder("part"));
  OK(bdl_save(name, NULL, t.posterior, NULL));
  REFUSED(BDL_ERROR_FORMAT, "no model", bdl_load(name, NULL, &out.model, &out.posterior, NULL));
  REFUSED(BDL_ERROR_FORMAT, "no optimizer", bdl_load(name, NULL, NULL, &out.posterior, &out.optimizer));
  OK(bdl_save(name, t.model, NULL, NULL));
  REFUSED(BDL_ERROR_FORMAT, "no posterior", bdl_load(name, NULL, &out.model, &out.posterior, NULL));
  assert_int_equal(unlink(name), 0);
}

/* The disk is full: the older file stays, and no temporary file (teardown would find it). */
static void test_older_file_survives(void** state) {
  const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY}, little = {512, RLIM_INFINITY};
  size_t before, after;
  unsigned char *old = contents(&before), *now;
  bdl_status status;
  (void)state;
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
  status = bdl_save(path, t.model, t.posterior, NULL);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
  refused_at(BDL_ERROR_FILE, "good.safetensors", status, "bdl_save(", __FILE__, __LINE__);
  now = contents(&after);
  assert_int_equal(before, after);
  assert_memory_equal(old, now, before);
  free(old);
  free(now);
}

int test_errors_checkpoint(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_arguments),
                                     cmocka_unit_test(test_bytes),
                                     cmocka_unit_test(test_parts),
                                     cmocka_unit_test(test_unwritable),
                                     cmocka_unit_test(test_unreadable),
                                     cmocka_unit_test(test_bit_rot),
                                     cmocka_unit_test(test_damaged),
                                     cmocka_unit_test(test_changed_descriptions),
                                     cmocka_unit_test(test_foreign_file),
                                     cmocka_unit_test(test_missing_parts),
                                     cmocka_unit_test(test_older_file_survives)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
