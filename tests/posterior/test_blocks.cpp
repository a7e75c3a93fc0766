// Posteriors of independent blocks: a step is one of each block's own, and rows restricted to a block,
// however they are held, are those rows.
#include "curvature/blocked_rows.hpp"
#include "curvature/data_rows.hpp"
#include "linalg/blas.hpp"
#include "posterior/families.hpp"
#include "support/posteriors.hpp"
#include "support/training.hpp"

// Last: it brings cmocka.h.
#include "support/full_steps.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

const std::vector<Index> sizes = {3, 5, 2};

Dense block(const Dense& a, Index row, Index col, Index rows, Index cols) {
  Dense out(rows, cols);
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < rows; ++i) out(i, j) = a(row + i, col + j);
  return out;
}

template <class T>
std::unique_ptr<BlocksPosterior<T>> blocks_from(Family family, const Gaussian& q) {
  std::vector<std::unique_ptr<Posterior<T>>> members;
  Index first = 0;
  for (const Index size : sizes) {
    members.push_back(posterior_of<T>(
        family, {block(q.mean, first, 0, size, 1), block(q.precision, first, first, size, size),
                 block(q.covariance, first, first, size, size)}));
    first += size;
  }
  return std::make_unique<BlocksPosterior<T>>(Family::layerwise_full, std::move(members));
}

template <class T>
Posterior<T>& member_of(BlocksPosterior<T>& q, Index k) {
  return const_cast<Posterior<T>&>(q.member(k));
}

/// The step of block k alone, with dense rows of its own.
template <class T>
struct OwnStep {
  Padded<T> m, w, prior;
  DenseRows<T> rows;
  Dense matrix;
  std::unique_ptr<Posterior<T>> to;

  OwnStep(const StepProblem<T>& p, const PosteriorStep<T>& step, const BlocksPosterior<T>& from,
          const BlocksPosterior<T>& prior_of_all, Index k, Scratch& scratch)
      : m(block(p.m.dense(), from.offset(k), 0, from.member(k).dimension(), 1)),
        w(p.w.dense()),
        prior(block(p.prior_diagonal.dense(), from.offset(k), 0, from.member(k).dimension(), 1)),
        to(from.member(k).clone()) {
    const Index size = from.member(k).dimension(), offset = from.offset(k);
    PosteriorStep<T> own{from.member(k)};
    own.descent = step.descent;
    own.m = std::as_const(m).column();
    own.mean_rate = step.mean_rate;
    own.curvature_rate = step.curvature_rate;
    matrix = block(p.matrix, offset, offset, size, size);
    fill(rows.resize(size, p.rows.cols), block(p.rows, offset, 0, size, p.rows.cols));
    if (step.curvature.rows)
      own.curvature = {&rows, std::as_const(w).column(), {}, {}};
    else
      own.curvature.matrix = {matrix.values.data(), size, size};
    if (step.prior) own.prior = &prior_of_all.member(k);
    if (!step.prior_precision.empty()) own.prior_precision = std::as_const(prior).column();
    to->update(own, scratch);
  }
};

template <class T>
void a_step_is_one_of_each_block(void**) {
  for (const Family family : {Family::full, Family::full_moment})
    for (const Descent descent : {Descent::natural, Descent::plain})
      for (const PriorForm form : {PriorForm::none, PriorForm::posterior, PriorForm::diagonal})
        for (const CurvatureForm curvature : {CurvatureForm::one_row, CurvatureForm::few_rows,
                                              CurvatureForm::many_rows, CurvatureForm::matrix}) {
          StepProblem<T> problem(family, 10, form, curvature, 5);
          const auto from = blocks_from<T>(family, problem.from),
                     prior = blocks_from<T>(family, problem.prior);
          PosteriorStep<T> step = problem.step(descent), own{*from};
          own.descent = descent;
          own.m = step.m;
          own.curvature = step.curvature;
          own.mean_rate = step.mean_rate;
          own.curvature_rate = step.curvature_rate;
          own.prior_precision = step.prior_precision;
          if (step.prior) own.prior = prior.get();
          Scratch scratch;
          const auto to = from->clone();
          assert_true(to->update(own, scratch) == 1);
          for (Index k = 0; k < from->block_count(); ++k) {
            const OwnStep<T> alone(problem, step, *from, *prior, k, scratch);
            const Posterior<T>& got = as_blocks(*to).member(k);
            assert_close("mean", column_of(got.mean()), column_of(std::as_const(*alone.to).mean()),
                         accuracy<T>);
            assert_close("precision", dense_precision(got), dense_precision(*alone.to), accuracy<T>);
          }
        }
}

template <class T>
void natural_steps_are_those_of_a_block_diagonal_precision(void**) {
  StepProblem<T> p(Family::full, 10, PriorForm::diagonal, CurvatureForm::few_rows, 6);
  const auto from = blocks_from<T>(Family::full, p.from);
  PosteriorStep<T> step = p.step(Descent::natural), own{*from};
  own.m = step.m;
  own.curvature = step.curvature;
  own.mean_rate = step.mean_rate;
  own.curvature_rate = step.curvature_rate;
  own.prior_precision = step.prior_precision;
  Scratch scratch;
  const auto to = from->clone();
  to->update(own, scratch);
  Dense expected = dense_precision(*from);
  const Dense target = p.curvature() + diagonal_matrix(p.prior_diagonal.dense());
  for (Index j = 0; j < 10; ++j)
    for (Index i = 0; i < 10; ++i)
      if (expected(i, j) != 0) expected(i, j) += p.curvature_rate * (target(i, j) - expected(i, j));
  assert_close("precision", dense_precision(*to), expected, accuracy<T>);
  const Dense mean = p.from.mean - p.mean_rate * (inverse_of(expected) * p.m.dense());
  assert_close("mean", column_of(std::as_const(*to).mean()), mean, accuracy<T>);
}

template <class T>
void assert_same_rows(const char* what, Rows<T>& got, const Dense& expected) {
  Random random(8);
  const Index n = expected.cols, size = expected.rows;
  assert_true(got.count() == n && got.dimension() == size && got.cost().count == n);
  const Padded<T> w(random.uniform(n, 1, 0.2, 1)), u(random.normal(size, 3)), mix(random.normal(n, 40));
  const Dense weighted = expected * diagonal_matrix(w.dense());
  Padded<T> sum(poison(size, 1)), squares(poison(size, 1)), projected(poison(3, n)),
      combined(poison(size, 40));
  got.sum(w.column(), sum.column());
  assert_close(what, sum.dense(), expected * w.dense(), accuracy<T>);
  got.sum_squares(w.column(), squares.column());
  assert_close(what, squares.dense(), diagonal_of(weighted * transposed(expected)), accuracy<T>);
  got.project(u.get(), projected.view());
  assert_close(what, projected.dense(), transposed(u.dense()) * expected, accuracy<T>);
  got.combine(mix.get(), combined.view());
  assert_close(what, combined.dense(), expected * mix.dense(), 2 * accuracy<T>);
  Padded<double> gram(Dense(n, n)), outer(Dense(size, size));
  got.gram(gram.view());
  got.add_outer(w.column(), outer.view());
  mirror_lower(gram.view());
  mirror_lower(outer.view());
  assert_close(what, gram.dense(), transposed(expected) * expected, accuracy<T>);
  assert_close(what, outer.dense(), weighted * transposed(expected), accuracy<T>);
}

/// Rows of a network with three layers: one of them, two, and ranges that cut them; each twice, and dense
/// ones.
template <class T>
void parts_of_rows_are_their_blocks(void**) {
  const auto network = make_network<T>({4, 3, 2, 2}, Likelihood(BDL_GAUSSIAN, 2));
  const Index dimension = network->parameters(), examples = 6, samples = 2;
  Random random(7);
  const Padded<T> thetas(random.normal(dimension, samples)), x(random.normal(4, examples)),
      y(random.normal(2, examples));
  const auto estimator = make_estimator<T>(*network);
  const Estimate<T> estimate =
      estimator->estimate(thetas.get(), x.get(), y.get(), {CurvatureKind::gauss_newton, 1});
  const Index n = estimate.rows->count();
  Padded<T> all(poison(dimension, n));
  for (Index r = 0; r < n; ++r) estimate.rows->write_row(r, 0, all.view().column(r));
  DenseRows<T> dense;
  dense.view(all.get());
  for (const auto& [offset, size] :
       {std::pair<Index, Index>{0, 15}, {15, 8}, {15, 14}, {0, 29}, {2, 9}, {10, 13}, {14, 3}, {12, 3}}) {
    const Dense expected = block(all.dense(), offset, 0, size, n);
    for (int time = 0; time < 2; ++time)
      assert_same_rows("by blocks", estimate.rows->part(offset, size), expected);
    assert_same_rows("dense", dense.part(offset, size), expected);
  }
}

/// Means stand once, wherever swaps and copies have taken them.
template <class T>
void means_of_blocks_are_parts_of_the_mean(void**) {
  Random random(9);
  auto a = blocks_from<T>(Family::full, random_gaussian<T>(10, random)),
       b = blocks_from<T>(Family::full, random_gaussian<T>(10, random));
  const auto check = [](BlocksPosterior<T>& q) {
    for (Index k = 0; k < q.block_count(); ++k)
      assert_true(q.member(k).mean().data() == std::as_const(q).mean().data() + q.offset(k));
  };
  const Dense mean_of_b = column_of(std::as_const(*b).mean());
  a->swap(*b);
  assert_same("mean", column_of(std::as_const(*a).mean()), mean_of_b);
  check(*a);
  check(*b);
  const auto copy = a->clone();
  b->assign(*copy);
  a.reset();
  assert_same("mean", column_of(std::as_const(*b).mean()), mean_of_b);
  check(*b);
  b->mean()[4] = 17;
  assert_true(b->member(1).mean()[1] == 17);
}

template <class T>
void other_blocks_are_no_prior(void**) {
  StepProblem<T> p(Family::full, 10, PriorForm::posterior, CurvatureForm::few_rows, 6);
  const auto from = blocks_from<T>(Family::full, p.from), to = blocks_from<T>(Family::full, p.from);
  const auto prior = create_posterior<T>({Family::layerwise_full, 10, 0, {5, 5}, {}});
  PosteriorStep<T> step{*from};
  step.m = p.step(Descent::natural).m;
  step.curvature = p.step(Descent::natural).curvature;
  step.prior = prior.get();
  Scratch scratch;
  expect_error(Status::ERROR_UNSUPPORTED, "blocks are not those", [&] { to->update(step, scratch); });
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_blocks() {
  const CMUnitTest tests[] = {BOTH(a_step_is_one_of_each_block),
                              BOTH(natural_steps_are_those_of_a_block_diagonal_precision),
                              BOTH(parts_of_rows_are_their_blocks),
                              BOTH(means_of_blocks_are_parts_of_the_mean), BOTH(other_blocks_are_no_prior)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
