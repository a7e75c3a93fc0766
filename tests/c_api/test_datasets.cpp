// Data sets of all origins beside arrays: images augmented and standardised, moments, Laplace's
// approximation, exact methods, the ELBO.
#include <cmath>
#include <fstream>
#include <string>

#include "image_runs.hpp"

namespace {

Dataset of_arrays(bdl_matrix x, bdl_matrix y) {
  bdl_dataset* data = nullptr;
  OK(bdl_dataset_from_arrays(x, y, &data));
  return Dataset(data);
}

std::string path_of(const char* name) {
  return std::string(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp") + "/bdl-dataset-" +
         std::to_string(getpid()) + name;
}

/// A file that goes with this.
struct File {
  std::string path;
  File(const char* name, const std::string& header, const void* data, std::size_t size)
      : path(path_of(name)) {
    std::ofstream file(path, std::ios::binary);
    std::string text = header + std::string(64 - (10 + header.size() + 1) % 64, ' ') + "\n";
    const char start[] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, static_cast<char>(text.size()), 0};
    file.write(start, sizeof start).write(text.data(), static_cast<std::streamsize>(text.size()));
    file.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
  }
  ~File() { (void)remove(path.c_str()); }
};

std::string header(const char* descr, const char* shape) {
  return std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
}

Vector mean_of(const Learner& l) {
  Vector mean(static_cast<std::size_t>(bdl_posterior_dimension(l.posterior.get())));
  OK(bdl_posterior_mean(l.posterior.get(), bdl_f64_out(mean.data(), 1, std::ssize(mean))));
  return mean;
}

/// Images of bytes in a mapped file, with labels of 64 bits, are shifted and mirrored.
void images_are_augmented_from_files(void**) {
  const Images images;
  const std::vector<int64_t> labels(images.labels.begin(), images.labels.end());
  const File x("x.npy", header("|u1", "(40, 2, 4, 4)"), images.bytes.data(), images.bytes.size()),
      y("y.npy", header("<i8", "(40,)"), labels.data(), labels.size() * sizeof(int64_t));
  for (const bdl_dtype dtype : {BDL_F32, BDL_F64}) {
    Vector means[2];
    for (const bool mapped : {false, true}) {
      Learner l = image_learner(images, dtype);
      OK(bdl_optimizer_set_text(l.optimizer.get(), "augment_pad=1 augment_flip=1 minibatch=8"));
      bdl_dataset* data = nullptr;
      OK(bdl_dataset_from_npy(x.path.c_str(), y.path.c_str(), &data));
      const Dataset owned(data);
      assert_int_equal(bdl_dataset_inputs(data), image_size);
      if (mapped)
        OK(bdl_optimizer_fit_dataset(l.optimizer.get(), data, 3, nullptr, nullptr));
      else
        OK(bdl_optimizer_fit(l.optimizer.get(), images.x(), images.y(), 3, nullptr, nullptr));
      means[mapped ? 1 : 0] = mean_of(l);
    }
    assert_true(means[0] == means[1]);
  }
}

/// Moments over many blocks of rows, of channels and of targets some of which are missing.
void standardisation_is_that_of_arrays(void**) {
  const Images images;
  Learner a(make_network(BDL_F64), BDL_F64, 0, image_count),
      b(make_network(BDL_F64), BDL_F64, 0, image_count);
  OK(bdl_model_standardize(a.model.get(), images.x(), images.y()));
  const Dataset data = of_arrays(images.x(), images.y()), inputs = of_arrays(images.x(), bdl_none());
  OK(bdl_model_standardize_dataset(b.model.get(), data.get()));
  const auto read = [](const Model& model, int64_t n) {
    Vector all(static_cast<std::size_t>(2 * n));
    OK(bdl_model_get_standardization(model.get(), bdl_f64_out(all.data(), 1, n),
                                     bdl_f64_out(&all[static_cast<std::size_t>(n)], 1, n), bdl_none_out(),
                                     bdl_none_out()));
    return all;
  };
  assert_true(read(a.model, image_size) == read(b.model, image_size));
  OK(bdl_model_standardize_dataset(b.model.get(), inputs.get()));
  assert_true(read(a.model, image_size) == read(b.model, image_size));

  Vector x(2000), y(1000);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = 1e6 + std::sin(static_cast<double>(k * k));
  for (std::size_t k = 0; k < y.size(); ++k) y[k] = std::cos(static_cast<double>(3 * k));
  const Model plain = make_mlp(BDL_F32, {2, 1}, BDL_GAUSSIAN), same = make_mlp(BDL_F32, {2, 1}, BDL_GAUSSIAN);
  OK(bdl_model_standardize(plain.get(), bdl_f64(x.data(), 1000, 2), bdl_f64(y.data(), 1000, 1)));
  const Dataset numbers = of_arrays(bdl_f64(x.data(), 1000, 2), bdl_f64(y.data(), 1000, 1));
  OK(bdl_model_standardize_dataset(same.get(), numbers.get()));
  Vector mine(6), other(6);
  for (const auto& [model, out] : {std::pair{plain.get(), &mine}, {same.get(), &other}})
    OK(bdl_model_get_standardization(model, bdl_f64_out(&(*out)[0], 1, 2), bdl_f64_out(&(*out)[2], 1, 2),
                                     bdl_f64_out(&(*out)[4], 1, 1), bdl_f64_out(&(*out)[5], 1, 1)));
  assert_true(mine == other);
}

/// Two outputs over 3,000 rows: more than a part of the ELBO, and more than a chunk of Laplace's
/// approximation.
struct Numbers {
  static constexpr int64_t rows = 3000;
  Vector x = Vector(rows), y = Vector(rows);
  Numbers() {
    for (std::size_t i = 0; i < rows; ++i) {
      x[i] = std::sin(static_cast<double>(i));
      y[i] = 2 * x[i] + 0.3 * std::cos(static_cast<double>(7 * i));
    }
  }
  bdl_matrix inputs() const { return bdl_f64(x.data(), rows, 1); }
  bdl_matrix targets() const { return bdl_f64(y.data(), rows, 1); }
};

void whole_data_methods_take_data_sets(void**) {
  const Numbers numbers;
  const Dataset data = of_arrays(numbers.inputs(), numbers.targets());
  for (const char* method : {"laplace", "exact-full", "slang-ggn"}) {
    Vector means[2], variances[2];
    for (const bool is_set : {false, true}) {
      Learner l(make_mlp(BDL_F64, {1, 1}, BDL_GAUSSIAN), BDL_F64, FULL, Numbers::rows, method);
      bdl_optimizer* o = l.optimizer.get();
      if (is_set)
        OK(bdl_optimizer_fit_dataset(o, data.get(), 3, nullptr, nullptr));
      else
        OK(bdl_optimizer_fit(o, numbers.inputs(), numbers.targets(), 3, nullptr, nullptr));
      if (strcmp(method, "slang-ggn") == 0) {
        if (is_set)
          OK(bdl_optimizer_laplace_dataset(o, data.get()));
        else
          OK(bdl_optimizer_laplace(o, numbers.inputs(), numbers.targets()));
      }
      means[is_set ? 1 : 0] = mean_of(l);
      variances[is_set ? 1 : 0].resize(2);
      OK(bdl_posterior_marginal_variance(l.posterior.get(),
                                         bdl_f64_out(variances[is_set ? 1 : 0].data(), 1, 2)));
      double expected[2], kl = 0;
      for (const int64_t samples : {0, 5}) {
        OK(bdl_optimizer_elbo(o, numbers.inputs(), numbers.targets(), samples, 3, &expected[0], nullptr));
        OK(bdl_optimizer_elbo_dataset(o, data.get(), samples, 3, &expected[1], &kl));
        assert_true(std::abs(expected[1] / expected[0] - 1) < 1e-12);
      }
      assert_true(kl > 0);
    }
    assert_true(means[0] == means[1] && variances[0] == variances[1]);
  }
}

int32_t stop_at_once(void*) {
  return 1;
}

/// Passes over the data ask whether to go on.
void passes_can_be_interrupted(void**) {
  const Numbers numbers;
  const Dataset data = of_arrays(numbers.inputs(), numbers.targets());
  Learner l(make_mlp(BDL_F64, {1, 1}, BDL_GAUSSIAN), BDL_F64, FULL, Numbers::rows);
  bdl_set_interrupt(stop_at_once, nullptr);
  assert_int_equal(bdl_model_standardize_dataset(l.model.get(), data.get()), BDL_STOPPED);
  bdl_set_interrupt(nullptr, nullptr);
  Vector scale(1);
  OK(bdl_model_get_standardization(l.model.get(), bdl_none_out(), bdl_f64_out(scale.data(), 1, 1),
                                   bdl_none_out(), bdl_none_out()));
  assert_true(scale[0] == 1);
}

}  // namespace

int test_datasets() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(images_are_augmented_from_files), cmocka_unit_test(standardisation_is_that_of_arrays),
      cmocka_unit_test(whole_data_methods_take_data_sets), cmocka_unit_test(passes_can_be_interrupted)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
