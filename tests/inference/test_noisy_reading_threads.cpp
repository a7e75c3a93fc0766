// Precision and factor of a posterior that keeps its covariance are computed once, on demand, and all threads
// read the same.
#include <thread>

#include "support/streams.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

struct Reading {
  std::vector<double> values;
  bool operator==(const Reading&) const = default;
};

template <class T>
Reading read(const Posterior<T>& q) {
  const Index size = q.dimension();
  Reading reading;
  Scratch scratch;
  std::vector<T> vector(static_cast<std::size_t>(size), T(1)), out(vector.size());
  const auto keep = [&] { reading.values.insert(reading.values.end(), out.begin(), out.end()); };
  q.marginal_variance(out, scratch), keep();
  q.precision_diagonal(out), keep();
  q.multiply_precision(vector, out, scratch), keep();
  std::ranges::copy(vector, out.begin());
  q.color(q.mean(), {out.data(), size, 1}, {}, scratch), keep();
  reading.values.push_back(q.log_det_covariance());
  reading.values.push_back(q.quadratic(vector, scratch));
  q.read_tensors([&](const PosteriorTensor<const T>& tensor) {
    tensor.with([&](const auto& view) {
      for (Index j = 0; j < view.cols; ++j)
        for (Index i = 0; i < view.rows; ++i) reading.values.push_back(static_cast<double>(view(i, j)));
    });
  });
  const auto copy = q.clone();
  reading.values.push_back(copy->log_det_covariance());
  return reading;
}

template <class T>
void threads_that_read_at_one_time_read_the_same(void**) {
  for (const FamilyKind& kind : {full_kind, full_moment_kind}) {
    const Likelihood likelihood = gaussian(1, {3});
    const auto model = make_network<T>({6, 5, 1}, likelihood);
    Options options = stream_options(Rule::bong, EstimateKind::lin_hess);
    options.process_noise = 1e-3;
    Learner<T> learner(model, random_prior<T>(kind, model->parameters(), 81, 20), options);
    const StreamData data(likelihood, 6, 10, 82);
    for (Index t = 0; t < 10; ++t) {
      learner.observe(rows_of(data.x, t, 1), rows_of(data.y, t, 1));
      const std::shared_ptr<Posterior<T>> untouched = learner.q->clone();
      assert_true(untouched->keeps_covariance());
      std::vector<Reading> readings(4);
      std::vector<std::thread> threads;
      for (Reading& reading : readings) threads.emplace_back([&] { reading = read(*learner.q); });
      for (std::thread& thread : threads) thread.join();
      const Reading expected = read(*untouched);
      for (const Reading& reading : readings) assert_true(reading == expected);
    }
  }
}

}  // namespace

int test_noisy_reading_threads() {
  const CMUnitTest tests[] = {cmocka_unit_test(threads_that_read_at_one_time_read_the_same<float>),
                              cmocka_unit_test(threads_that_read_at_one_time_read_the_same<double>)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
