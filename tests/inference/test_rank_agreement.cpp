// Before they train together, ranks compare all numbers that go on from step to step: a number that differs,
// even in its last bit, is another state.
#include <cmath>
#include <limits>

#include "posterior/families.hpp"
#include "posterior/point_parameters.hpp"
#include "support/likelihoods.hpp"
#include "support/training.hpp"
#include "train/fit.hpp"
#include "train/sharding.hpp"

// Last: it includes cmocka.h.
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index examples = 24, inputs = 3;

/// An optimizer that has taken some steps.
struct Trained {
  std::shared_ptr<Network<double>> network;
  std::shared_ptr<Posterior<double>> q;
  std::unique_ptr<Optimizer<double>> optimizer;

  Trained(const char* method, Family family, Index rank,
          const char* description = "input 3; dense 4; tanh; dense 1") {
    network = std::make_shared<Network<double>>(std::make_shared<const Graph<double>>(description),
                                                gaussian(1, {1}));
    PosteriorKind kind{family, network->parameters(), rank, {}, {}, point_parameters_of(*network), {}};
    if (family == Family::kronecker) kind.matrices = matrices_of(*network);
    q = create_posterior<double>(kind);
    optimizer = std::make_unique<Optimizer<double>>(network, q, find_method(method), examples);
    const Dense x = Random(3).normal(inputs, examples), y = Random(4).normal(1, examples);
    fit(*optimizer, bdl_f64(x.values.data(), examples, inputs), bdl_f64(y.values.data(), examples, 1), 4, {});
  }
  std::uint64_t state() const {
    std::vector<std::uint32_t> hashes(option_table().size());
    return agreement(*optimizer, Call::fit, examples, 4, 1, true, hashes).state;
  }
  /// Changes the last bit of `number`, expects another state, and changes the bit back.
  void expect_counts(const double& number, const char* what) {
    auto& place = const_cast<double&>(number);
    const double before = place;
    const std::uint64_t same = state();
    assert_true(same == state());
    place = std::nextafter(before, std::numeric_limits<double>::infinity());
    if (state() == same) fail_msg("%s do not count", what);
    place = before;
    assert_true(same == state());
  }
};

void kronecker_averages_count(void**) {
  Trained t("kfac", Family::kronecker, 0);
  const KroneckerAverages<double>& averages = t.optimizer->averages.kfac.now();
  assert_true(averages.steps > 0);
  t.expect_counts(averages.momentum.data()[2], "momenta");
  t.expect_counts(averages.factors.values()[0], "factors");
  t.expect_counts(averages.eigenvalues.data()[1], "eigenvalues");
}

void snapshots_count(void**) {
  Trained t("swag", Family::low_rank_moment, 2);
  const Index dimension = t.q->dimension();
  assert_true(t.optimizer->state.snapshots >= 2);
  t.expect_counts(t.optimizer->snapshots.mean(dimension)[3], "snapshots' means");
  t.expect_counts(t.optimizer->snapshots.squares(dimension)[1], "their squares");
  t.expect_counts(t.optimizer->snapshots.deviations(dimension, 2)(0, 1), "their deviations");
}

void other_averages_count(void**) {
  Trained vogn("vogn", Family::low_rank, 0);
  vogn.expect_counts(vogn.optimizer->averages.moments.now().first.data()[0], "first moments");
  vogn.expect_counts(vogn.optimizer->averages.moments.now().second.data()[0], "second moments");
  Trained slang("slang", Family::low_rank, 2, "input 3; dense 4; batchnorm; dense 1");
  slang.expect_counts(slang.optimizer->averages.momentum.values()[0], "momenta");
  const Index points = slang.q->point_parameters().parameters();
  slang.expect_counts(slang.optimizer->averages.point_squares.average(points)[0], "averages of points");
  Trained tied("k-tied", Family::low_rank_moment, 0);
  tied.expect_counts(tied.optimizer->averages.tied.values()[0], "tied scales");
}

}  // namespace

int test_rank_agreement() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(kronecker_averages_count),
      cmocka_unit_test(snapshots_count),
      cmocka_unit_test(other_averages_count),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
