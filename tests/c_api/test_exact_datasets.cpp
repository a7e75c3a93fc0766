// The methods exact-* on more rows than a block has: data sets of all origins have the results of arrays,
// memory does not grow with the rows, and a pass that ends early leaves the last iteration.
#include <cmath>
#include <fstream>
#include <string>

#include "row_source.hpp"

namespace {

constexpr int64_t rows = 3000, features = 100;  // a block has 2^18 / 101 = 2595 rows

struct Numbers {
  Vector x = Vector(static_cast<std::size_t>(rows * features)), y = Vector(rows);
  Numbers() {
    uint64_t state = 1;
    const auto uniform = [&] {
      state = state * 6364136223846793005u + 1442695040888963407u;
      return static_cast<double>(state >> 11) * 0x1p-53;
    };
    for (std::size_t i = 0; i < y.size(); ++i) {
      double f = 0;
      for (std::size_t c = 0; c < features; ++c) {
        const double value = x[i * features + c] = 2 * uniform() - 1;
        f += 0.1 * static_cast<double>(c % 7) * value;
      }
      y[i] = uniform() * (1 + std::exp(-f)) < 1 ? 1 : 0;
    }
  }
  bdl_matrix inputs() const { return bdl_f64(x.data(), rows, features); }
  bdl_matrix targets() const { return bdl_f64(y.data(), rows, 1); }
};

const Numbers numbers;

RowSource source_of_numbers() {
  return {numbers.x.data(), numbers.y.data(), rows, features, 1};
}

Dataset of_arrays() {
  bdl_dataset* handle = nullptr;
  OK(bdl_dataset_from_arrays(numbers.inputs(), numbers.targets(), &handle));
  return Dataset(handle);
}

/// Files that go with this.
struct Files {
  std::string path =
      std::string(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp") + "/bdl-exact-" + std::to_string(getpid());
  Files() {
    write("x.npy", "(3000, 100)", numbers.x);
    write("y.npy", "(3000, 1)", numbers.y);
  }
  ~Files() {
    (void)remove((path + "x.npy").c_str());
    (void)remove((path + "y.npy").c_str());
  }
  void write(const char* name, const char* shape, const Vector& values) const {
    std::ofstream file(path + name, std::ios::binary);
    std::string text = std::string("{'descr': '<f8', 'fortran_order': False, 'shape': ") + shape + ", }";
    text += std::string(64 - (10 + text.size() + 1) % 64, ' ') + "\n";
    const char start[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<char>(text.size()), 0};
    file.write(start, sizeof start).write(text.data(), static_cast<std::streamsize>(text.size()));
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(double)));
  }
  Dataset map() const {
    bdl_dataset* handle = nullptr;
    OK(bdl_dataset_from_npy((path + "x.npy").c_str(), (path + "y.npy").c_str(), &handle));
    return Dataset(handle);
  }
};

Learner learner(const char* method, bdl_dtype dtype = BDL_F64) {
  const int64_t rank = strcmp(method, "exact-full") == 0       ? FULL
                       : strcmp(method, "exact-low-rank") == 0 ? 2
                                                               : 0;
  return {make_mlp(dtype, {features, 1}, BDL_BERNOULLI), dtype, rank, rows, method};
}

/// All that is believed, and when.
std::string bytes_of(const Learner& l) {
  int64_t size = 0;
  OK(bdl_save_bytes(l.model.get(), l.posterior.get(), l.optimizer.get(), nullptr, 0, &size));
  std::string bytes(static_cast<std::size_t>(size), '\0');
  OK(bdl_save_bytes(l.model.get(), l.posterior.get(), l.optimizer.get(), bytes.data(), size, &size));
  return bytes;
}

bdl_status fit(Learner& l, const Dataset& data, int64_t epochs = 6) {
  return bdl_optimizer_fit_dataset(l.optimizer.get(), data.get(), epochs, nullptr, nullptr);
}

void assert_near(const Vector& got, const Vector& expected, const char* what) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    assert_close(got[i], expected[i], 1e-8 * (1 + std::fabs(expected[i])), what);
}

int64_t steps_of(const Learner& l) {
  int64_t step = -1;
  OK(bdl_optimizer_progress(l.optimizer.get(), &step, nullptr, nullptr));
  return step;
}

void bits_are_those_of_arrays(void**) {
  const Files files;
  for (const char* method : {"exact-full", "exact-diagonal", "exact-low-rank"})
    for (const bdl_dtype dtype : {BDL_F32, BDL_F64}) {
      Learner arrays = learner(method, dtype);
      arrays.fit(numbers.inputs(), numbers.targets(), 6);
      const std::string expected = bytes_of(arrays);
      const auto check = [&](const Dataset& data, int64_t block) {
        if (block > 0) OK(bdl_dataset_set_block(data.get(), block, 3));
        Learner l = learner(method, dtype);
        OK(fit(l, data));
        assert_true(bytes_of(l) == expected);
      };
      RowSource source = source_of_numbers();
      check(of_arrays(), 0);
      check(files.map(), 0);
      for (const int64_t block : {0, 7, 1000, 5000}) check(read_by(source), block);
      check(files.map(), 500);
    }
}

/// A model that sees standardised inputs reads them so.
void standardised_inputs_are_those_of_the_caller(void**) {
  const Vector means(features, 0.3), scales(features, 2);
  Learner plain = learner("exact-full"), l = learner("exact-full");
  Vector x = numbers.x;
  for (double& value : x) value = (value - 0.3) / 2;
  OK(bdl_model_set_standardization(l.model.get(), bdl_f64(means.data(), 1, features),
                                   bdl_f64(scales.data(), 1, features), bdl_none(), bdl_none()));
  plain.fit(bdl_f64(x.data(), rows, features), numbers.targets(), 10);
  OK(fit(l, of_arrays(), 10));
  assert_near(moments_of(l.posterior), moments_of(plain.posterior), "standardised");
}

/// A fit takes the memory of a block and a matrix, for any number of rows; shards that are made one
/// after the other hold as much again for each level of their tree.
void memory_does_not_grow_with_rows(void**) {
  const auto bytes_for = [](int64_t n, int64_t shards) {
    Learner l(make_mlp(BDL_F64, {20, 1}, BDL_BERNOULLI), BDL_F64, FULL, n, "exact-full");
    OK(bdl_optimizer_set_int(l.optimizer.get(), "shards", shards));
    int64_t bytes = 0;
    OK(bdl_optimizer_memory(l.optimizer.get(), 0, &bytes));
    return bytes;
  };
  const int64_t block = (1 << 18) / 21;
  assert_true(bytes_for(block + 1, 1) < bytes_for(block, 1) + 30000);
  assert_int_equal(bytes_for(int64_t{1} << 40, 1), bytes_for(block + 1, 1));
  assert_true(bytes_for(int64_t{1} << 40, 1) < 7000000);
  assert_true(bytes_for(int64_t{1} << 40, 64) < bytes_for(int64_t{1} << 40, 1) + 7 * 8 * 21 * 23);
}

/// Each call of the source fails once. A failure in the first iteration changes nothing; after a later one
/// the posterior is that of the last iteration, and training goes on to the same optimum.
void failing_sources_leave_the_last_iteration(void**) {
  Learner whole = learner("exact-full");
  OK(fit(whole, of_arrays(), 100));
  const auto optimum = moments_of(whole.posterior);
  std::vector<std::string> after;  // so many iterations
  for (int64_t k = 0; k < 4; ++k) {
    Learner l = learner("exact-full");
    if (k > 0) OK(fit(l, of_arrays(), k));
    after.push_back(bytes_of(l));
  }
  for (const bool interrupts : {false, true})
    for (const int bad_call : {1, 2, 3, 5, 7}) {
      RowSource source = source_of_numbers();
      source.bad_call = bad_call;
      source.interrupts = interrupts;
      const Dataset data = read_by(source);
      Learner l = learner("exact-full");
      bdl_set_interrupt([](void* asked) { return *static_cast<bool*>(asked) ? 1 : 0; }, &source.is_asked);
      const bdl_status status = fit(l, data, 100);
      bdl_set_interrupt(nullptr, nullptr);
      assert_int_equal(status, interrupts ? BDL_STOPPED : BDL_ERROR_CALLBACK);
      if (!interrupts) assert_non_null(strstr(bdl_last_error(), "the disk is gone"));
      const auto steps = static_cast<std::size_t>(steps_of(l));
      assert_true(steps < after.size() && (bad_call > 2 || steps == 0));
      if (steps == 0) {
        assert_true(bytes_of(l) == after[0]);
      } else {
        Learner limited = learner("exact-full");
        OK(fit(limited, of_arrays(), static_cast<int64_t>(steps)));
        assert_true(moments_of(l.posterior) == moments_of(limited.posterior));
      }
      OK(fit(l, data, steps == 0 ? 100 : 0));
      assert_near(moments_of(l.posterior), optimum, "optimum");
    }
}

/// Checked as they are read, and named by their numbers.
void bad_rows_are_named(void**) {
  Vector y = numbers.y;
  y[2800] = 3;
  bdl_dataset* handle = nullptr;
  OK(bdl_dataset_from_arrays(numbers.inputs(), bdl_f64(y.data(), rows, 1), &handle));
  const Dataset data(handle);
  for (const char* method : {"exact-full", "exact-low-rank"}) {
    Learner l = learner(method);
    const std::string before = bytes_of(l);
    assert_int_equal(fit(l, data), BDL_ERROR_LABEL);
    assert_non_null(strstr(bdl_last_error(), "row 2800"));
    assert_true(bytes_of(l) == before);
  }
}

}  // namespace

int test_exact_datasets() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(bits_are_those_of_arrays),
      cmocka_unit_test(standardised_inputs_are_those_of_the_caller),
      cmocka_unit_test(memory_does_not_grow_with_rows),
      cmocka_unit_test(failing_sources_leave_the_last_iteration),
      cmocka_unit_test(bad_rows_are_named),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
