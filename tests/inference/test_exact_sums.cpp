// Sums over a whole data set by blocks and shards: those of dense matrices, and of all rows at once; and the
// optima of the methods exact-* from them.
#include "posterior/full/full.hpp"
#include "support/exact_reference.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"
#include "train/exact/exact_sums.hpp"
#include "train/fit.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Progress silent{nullptr, nullptr};

struct Data {
  Dense x, y;  // columns are examples
  Data(const Likelihood& likelihood, Index features, Index count) {
    Random random(191);
    x = random.normal(features, count, 0.5);
    y = random.normal(1, count);
    if (likelihood.kind() != BDL_GAUSSIAN)
      for (Index i = 0; i < count; ++i) y(0, i) = std::floor(2 * random.uniform());
  }
  Array inputs() const { return bdl_strided(x.values.data(), BDL_F64, x.cols, x.rows, x.rows, 1); }
  Array targets() const { return bdl_f64(y.values.data(), y.cols, 1); }
};

/// A posterior of rank -1 (full), 0 (diagonal) or more, somewhere.
std::shared_ptr<Posterior<double>> posterior_of(Index dimension, Index rank) {
  Random random(192);
  std::shared_ptr<Posterior<double>> q;
  if (rank < 0) {
    auto full = std::make_shared<FullPosterior<double>>(dimension);
    full->set_isotropic(7);
    q = full;
  } else {
    auto low_rank = std::make_shared<LowRankPosterior<double>>(dimension, rank);
    const Dense u = random.normal(dimension, rank, 2), d(dimension, 1, 9);
    low_rank->set_precision({u.values.data(), dimension, rank}, d.values);
    q = low_rank;
  }
  const Dense mean = random.normal(dimension, 1, 0.3);
  std::ranges::copy(mean.values, q->mean().begin());
  return q;
}

Dense lower(MatrixView<double> matrix) {
  Dense out(matrix.rows, matrix.cols);
  for (Index j = 0; j < out.cols; ++j)
    for (Index i = 0; i < out.rows; ++i) out(i, j) = matrix(std::max(i, j), std::min(i, j));
  return out;
}

/// All sums at q, by so many shards.
struct Sums {
  double log_likelihood;
  Dense slope, diagonal, matrix, products, typical;
  Sums(const Network<double>& model, const Data& data, Posterior<double>& q, const Dense& y, Index shards) {
    ExactSums sums(model, {data.x.cols, shards, 0, 1});
    ArrayData rows(data.inputs(), data.targets());
    const Standardization none;
    Team alone;
    sums.read_from(rows, none);
    sums.evaluate(q, HessianSum::matrix, {nullptr, q.dimension(), 0}, alone);
    matrix = lower(sums.matrix());
    sums.evaluate(q, HessianSum::products, {y.values.data(), y.rows, y.cols}, alone);
    log_likelihood = sums.log_likelihood();
    slope = column_of(sums.slope());
    diagonal = column_of(sums.diagonal());
    products = dense_of(sums.products());
    const Dense start(q.dimension(), 1, 0.5);
    typical = column_of(sums.typical_precision(start.values, alone));
  }
};

void sums_are_those_of_dense_matrices(void**) {
  constexpr Index features = 4, examples = 23;
  for (const Likelihood& likelihood : one_output()) {
    const Data data(likelihood, features, examples);
    const auto model = make_network<double>({features, 1}, likelihood);
    const Dense y = Random(193).normal(features + 1, 2);
    for (const Index rank : {-1, 0, 2}) {
      const auto q = posterior_of(features + 1, rank);
      const Reference expected = expectations(likelihood, column_of(std::as_const(*q).mean()),
                                              inverse_of(dense_precision(*q)), data.x, data.y, 1);
      for (const Index shards : {1, 3, 8, 40}) {  // more shards than rows: some are empty
        const Sums got(*model, data, *q, y, shards);
        assert_near("log likelihood", got.log_likelihood, expected.log_likelihood, 1e-12);
        assert_close("slope", got.slope, expected.gradient, 1e-12);
        assert_close("matrix", got.matrix, expected.hessian, 1e-12);
        assert_close("diagonal", got.diagonal, diagonal_of(expected.hessian), 1e-12);
        assert_close("products", got.products, expected.hessian * y, 1e-12);
      }
    }
  }
}

/// More rows than a block has: 513 x 513 numbers are read at a time.
void blocks_add_up_to_all_rows(void**) {
  constexpr Index features = 512, dimension = features + 1, examples = 1100;
  const Likelihood likelihood(BDL_POISSON, 1);
  const Data data(likelihood, features, examples);
  const auto model = make_network<double>({features, 1}, likelihood);
  const auto q = posterior_of(dimension, 2);
  const Dense y = Random(194).normal(dimension, 2);
  assert_false(ExactSums::has_rows({examples, 1}, dimension));
  ExactEstimator<double> whole(*model);
  const Estimate<double> all =
      whole.estimate(*q, {data.x.values.data(), features, examples}, {data.y.values.data(), 1, examples}, 1);
  Dense slope(dimension, 1), matrix(dimension, dimension);
  all.rows->sum(all.c, slope.values);
  all.rows->add_outer(all.w, {matrix.values.data(), dimension, dimension});
  for (Index j = 0; j < dimension; ++j)
    for (Index i = 0; i < j; ++i) matrix(i, j) = matrix(j, i);
  Dense typical(dimension, 1, 0.5);
  for (Index i = 0; i < examples; ++i)
    for (Index j = 0; j < dimension; ++j) typical(j, 0) += j < features ? data.x(j, i) * data.x(j, i) : 1;
  for (const Index shards : {1, 2, 5}) {
    const Sums got(*model, data, *q, y, shards);
    assert_near("log likelihood", got.log_likelihood, all.expected_log_likelihood, 1e-12);
    assert_close("slope", got.slope, slope, 1e-12);
    assert_close("matrix", got.matrix, matrix, 1e-12);
    assert_close("diagonal", got.diagonal, diagonal_of(matrix), 1e-12);
    assert_close("products", got.products, matrix * y, 1e-12);
    assert_close("typical", got.typical, typical, 1e-12);
  }
}

std::unique_ptr<Optimizer<double>> make_optimizer(const Likelihood& likelihood, Index features, Index rank,
                                                  Index examples, Index shards) {
  const auto model = make_network<double>({features, 1}, likelihood);
  std::shared_ptr<Posterior<double>> q = std::make_shared<FullPosterior<double>>(features + 1);
  if (rank >= 0) q = bdl::testing::make_posterior<double>(features + 1, rank);
  const char* method = rank < 0 ? "exact-full" : rank == 0 ? "exact-diagonal" : "exact-low-rank";
  auto optimizer = std::make_unique<Optimizer<double>>(model, q, find_method(method), examples);
  Options options = optimizer->options();
  options.prior_precision = 0.7;
  options.shards = shards;
  options.learn_noise = 1;
  optimizer->set_options(options);
  return optimizer;
}

/// The optimum is a property of the data: those of one shard are tested against dense matrices
/// (test_exact_methods).
void optima_do_not_depend_on_shards(void**) {
  constexpr Index features = 5, examples = 60;
  for (const Likelihood& likelihood :
       {Likelihood(BDL_GAUSSIAN, 1), Likelihood(BDL_BERNOULLI, 1), Likelihood(BDL_POISSON, 1)}) {
    const Data data(likelihood, features, examples);
    for (const Index rank : {-1, 0, 1, 2}) {
      const auto fitted = [&](Index shards) {
        auto optimizer = make_optimizer(likelihood, features, rank, examples, shards);
        assert_true(fit(*optimizer, data.inputs(), data.targets(), 3000, silent) == Status::OK);
        assert_true(optimizer->state.step < 3000);
        return optimizer;
      };
      const auto one = fitted(1), three = fitted(3);
      assert_close("mean", column_of(std::as_const(*three->posterior()).mean()),
                   column_of(std::as_const(*one->posterior()).mean()), 1e-7);
      assert_close("precision", dense_precision(*three->posterior()), dense_precision(*one->posterior()),
                   1e-6);
      assert_near("ELBO", three->state.running_log_likelihood - kl_from_prior(*three),
                  one->state.running_log_likelihood - kl_from_prior(*one), 1e-9);
    }
  }
}

/// Inputs that are 0, or the same twice, leave the matrix singular.
void singular_hessians_are_steps_of_low_rank(void**) {
  constexpr Index features = 5, examples = 60;
  const Likelihood likelihood(BDL_BERNOULLI, 1);
  Data data(likelihood, features, examples);
  for (Index i = 0; i < examples; ++i) {
    data.x(1, i) = 0;
    data.x(2, i) = data.x(3, i);
  }
  for (const Index rank : {-1, 0, 1, 3}) {
    const auto optimizer = make_optimizer(likelihood, features, rank, examples, 4);
    assert_true(fit(*optimizer, data.inputs(), data.targets(), 3000, silent) == Status::OK);
    assert_true(optimizer->state.step < 3000);
    assert_near("precision of an input that is 0", dense_precision(*optimizer->posterior())(1, 1), 0.7, 1e-8);
  }
}

}  // namespace

int test_exact_sums() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(sums_are_those_of_dense_matrices),
      cmocka_unit_test(blocks_add_up_to_all_rows),
      cmocka_unit_test(optima_do_not_depend_on_shards),
      cmocka_unit_test(singular_hessians_are_steps_of_low_rank),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
