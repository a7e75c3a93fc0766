// Plain steps of full covariances leave points alone: other parameters step as if there were none.
#include "posterior/blocks/blocks.hpp"
#include "posterior/point_parameters.hpp"
#include "support/posteriors.hpp"

// Last: it brings cmocka.h.
#include "support/full_steps.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr Index places[] = {0, 3, 4};  // of the parameters that are no points
constexpr Index all = 5;
const PointLayout points{{{1, 2}}, 0};
constexpr double point_means[] = {0.7, -1.2}, point_slopes[] = {0.3, -0.2};

/// A vector with these numbers at the points.
Dense vector_with(const Dense& of_others, const double* of_points) {
  Dense out(all, 1);
  for (Index i = 0; i < 3; ++i) out(places[i], 0) = of_others(i, 0);
  for (Index p = 0; p < 2; ++p) out(1 + p, 0) = of_points[p];
  return out;
}

/// A square matrix, `diagonal` I at the points.
Dense square_with(const Dense& of_others, double diagonal) {
  Dense out(all, all);
  for (Index j = 0; j < 3; ++j)
    for (Index i = 0; i < 3; ++i) out(places[i], places[j]) = of_others(i, j);
  for (Index p = 1; p <= 2; ++p) out(p, p) = diagonal;
  return out;
}

template <class T>
Gaussian with_points(const Gaussian& q) {
  return {rounded<T>(vector_with(q.mean, point_means)), square_with(q.precision, 1),
          square_with(q.covariance, 1)};
}

/// Parameters `first` .. `first` + count - 1.
Gaussian part(const Gaussian& q, Index first, Index count) {
  Gaussian out{Dense(count, 1), Dense(count, count), Dense(count, count)};
  for (Index j = 0; j < count; ++j) {
    out.mean(j, 0) = q.mean(first + j, 0);
    for (Index i = 0; i < count; ++i) {
      out.precision(i, j) = q.precision(first + i, first + j);
      out.covariance(i, j) = q.covariance(first + i, first + j);
    }
  }
  return out;
}

/// The step of a problem of three parameters, with the two points among them.
template <class T>
struct WithPoints {
  Padded<T> m, prior, w;
  DenseRows<T> rows;
  Dense matrix;
  PosteriorStep<T> step;

  WithPoints(const StepProblem<T>& p, const PosteriorStep<T>& own, const Posterior<T>& from)
      : m(vector_with(p.m.dense(), point_slopes)), prior(Dense(all, 1, 1)), w(p.w.dense()), step{from} {
    step.descent = own.descent;
    step.mean_rate = own.mean_rate;
    step.curvature_rate = own.curvature_rate;
    step.m = std::as_const(m).column();
    if (!own.prior_precision.empty()) {
      for (Index i = 0; i < 3; ++i)
        prior.column()[static_cast<std::size_t>(places[i])] =
            own.prior_precision[static_cast<std::size_t>(i)];
      step.prior_precision = std::as_const(prior).column();
    }
    if (own.curvature.rows) {
      const auto to = rows.resize(all, p.rows.cols);
      for (Index r = 0; r < to.cols; ++r)
        for (Index i = 0; i < all; ++i) to(i, r) = 0;
      for (Index r = 0; r < to.cols; ++r)
        for (Index i = 0; i < 3; ++i) to(places[i], r) = static_cast<T>(p.rows(i, r));
      step.curvature.rows = &rows;
      step.curvature.w = std::as_const(w).column();
    } else {
      matrix = square_with(p.matrix, 0);
      step.curvature.matrix = {matrix.values.data(), all, all};
    }
  }
};

template <class T>
void compare(const Gaussian& got, const Gaussian& expected, double mean_rate) {
  const double tolerance = sizeof(T) == 8 ? 1e-12 : 1e-5;
  assert_close("precision", got.precision, square_with(expected.precision, 1), tolerance);
  const double means[] = {point_means[0] - mean_rate * point_slopes[0],
                          point_means[1] - mean_rate * point_slopes[1]};
  assert_close("mean", got.mean, vector_with(expected.mean, means), tolerance);
}

template <class T>
void steps_are_those_without_points(void**) {
  for (const auto& [prior, form] :
       {std::pair(PriorForm::none, CurvatureForm::one_row), std::pair(PriorForm::none, CurvatureForm::matrix),
        std::pair(PriorForm::diagonal, CurvatureForm::few_rows),
        std::pair(PriorForm::diagonal, CurvatureForm::matrix)}) {
    StepProblem<T> problem(Family::full, 3, prior, form, 5);
    const PosteriorStep<T> own = problem.step(Descent::plain);
    FullPosterior<T> expected(3), got(all);
    Scratch scratch;
    assert_true(expected.update(own, scratch) == 1);
    const auto from = posterior_of<T>(Family::full, with_points<T>(problem.from));
    from->adopt(points);
    WithPoints<T> same(problem, own, *from);
    assert_true(got.update(same.step, scratch) == 1);
    compare<T>(gaussian_of<T>(got), gaussian_of<T>(expected), own.mean_rate);
  }
}

/// A point at the end of one block and at the start of the next.
template <class T>
void blocks_know_their_points(void**) {
  StepProblem<T> problem(Family::full, 3, PriorForm::diagonal, CurvatureForm::matrix, 6);
  const PosteriorStep<T> own = problem.step(Descent::plain);
  const Gaussian q = with_points<T>(problem.from);
  const auto blocks = [&](Index first, const Gaussian& whole) {
    std::vector<std::unique_ptr<Posterior<T>>> members;
    members.push_back(posterior_of<T>(Family::full, part(whole, 0, first)));
    members.push_back(posterior_of<T>(Family::full, part(whole, first, whole.mean.rows - first)));
    return std::make_unique<BlocksPosterior<T>>(Family::layerwise_full, std::move(members));
  };
  const auto few = blocks(1, problem.from), many = blocks(2, q);
  many->adopt(points);
  PosteriorStep<T> without{*few};
  without.descent = own.descent;
  without.m = own.m;
  without.mean_rate = own.mean_rate;
  without.curvature_rate = own.curvature_rate;
  without.curvature = own.curvature;
  without.prior_precision = own.prior_precision;
  WithPoints<T> with(problem, own, *many);
  const auto expected = few->clone(), got = many->clone();
  Scratch scratch;
  assert_true(expected->update(without, scratch) == 1 && got->update(with.step, scratch) == 1);
  const auto whole = [](const Posterior<T>& posterior) {
    const Dense precision = dense_precision(posterior);
    return Gaussian{column_of(posterior.mean()), precision, inverse_of(precision)};
  };
  compare<T>(whole(std::as_const(*got)), whole(std::as_const(*expected)), own.mean_rate);
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_steps_of_points() {
  const CMUnitTest tests[] = {BOTH(steps_are_those_without_points), BOTH(blocks_know_their_points)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
