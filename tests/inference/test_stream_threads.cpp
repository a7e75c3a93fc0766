// Streams give identical results on any number of threads.
#include "support/streams.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

/// Near N(0, I / 1000), with a low-rank part if there is one.
template <class T>
std::shared_ptr<Posterior<T>> belief_of(const FamilyKind& kind, Index size) {
  std::shared_ptr<Posterior<T>> q;
  if (kind.family == Family::low_rank) q = std::make_shared<LowRankPosterior<T>>(size, kind.rank);
  if (kind.family == Family::full) q = std::make_shared<FullPosterior<T>>(size);
  if (kind.family == Family::full_moment) q = std::make_shared<FullMomentPosterior<T>>(size);
  if (kind.family == Family::diagonal_moment) q = std::make_shared<DiagonalMomentPosterior<T>>(size);
  q->set_diagonal(std::vector<T>(static_cast<std::size_t>(size), T(1000)), 5);
  Random random(102);
  for (T& value : q->mean()) value = static_cast<T>(0.2 * random.normal());
  q->set_blank(false);
  return q;
}

/// Large enough for every loop to be divided.
template <class T>
void results_do_not_depend_on_the_threads(void**) {
  for (const FamilyKind& kind : {FamilyKind{"low rank", Family::low_rank, 5}, diagonal_kind,
                                 diagonal_moment_kind, full_kind, full_moment_kind})
    for (const Rule rule : rules)
      for (const EstimateKind estimate : {EstimateKind::lin_hess, EstimateKind::mc_ef}) {
        const bool full = kind.family == Family::full || kind.family == Family::full_moment;
        const Index hidden = full ? 12 : 900;
        const Likelihood likelihood = gaussian(2, {3});
        const auto model = make_network<T>({20, hidden, 2}, likelihood);
        Options options = stream_options(rule, estimate);
        options.process_noise = 1e-4;
        options.learning_rate = 1e-3;
        const StreamData data(likelihood, 20, 2, 101);
        Dense scores[2], mean[2], diagonal[2];
        for (int k = 0; k < 2; ++k) {
          options.threads = k == 0 ? 1 : 3;
          const std::shared_ptr<Posterior<T>> q = belief_of<T>(kind, model->parameters());
          Learner<T> learner(model, q, options);
          scores[k] = learner.observe(data.x, data.y);
          learner.forecast(2);
          mean[k] = learner.mean();
          Padded<T> precision(poison(model->parameters(), 1));
          q->precision_diagonal(precision.column());
          diagonal[k] = precision.dense();
        }
        assert_same("scores", scores[1], scores[0]);
        assert_same("means", mean[1], mean[0]);
        assert_same("diagonals", diagonal[1], diagonal[0]);
      }
}

}  // namespace

int test_stream_threads() {
  const CMUnitTest tests[] = {cmocka_unit_test(results_do_not_depend_on_the_threads<float>),
                              cmocka_unit_test(results_do_not_depend_on_the_threads<double>)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
