// SLANG-OnlineEig (docs/theory/natural-gradients.md) written out: eigenpairs of each curvature alone,
// matched to the columns of U by their cosines, every eigen method, ranks below and above the number of rows.
#include "curvature/dense_rows.hpp"
#include "support/posteriors.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr double rate = 0.2, length = 0.3;

template <class T>
struct Course {
  Index dimension, rank, count;
  EigenMethod method;
  Dense u, d, mean, lambda;
  std::unique_ptr<LowRankPosterior<T>> q;
  Random random{7};

  Course(Index size, Index columns, Index rows, EigenMethod eigen)
      : dimension(size), rank(columns), count(rows), method(eigen), u(size, columns) {
    d = rounded<T>(random.uniform(size, 1, 0.5, 2));
    lambda = rounded<T>(random.uniform(size, 1, 0.1, 3));
    mean = Dense(size, 1);
    q = low_rank_of<T>(u, d);
    std::ranges::fill(q->mean(), T(0));
  }

  /// The reference: U stays matched column by column, so that its columns can be compared.
  void expect(const Dense& b, const Dense& w, const Dense& m) {
    const Dense curvature = b * diagonal_matrix(w) * transposed(b);
    const Dense top = eigen_columns(curvature);
    d = (1 - rate) * d + rate * (lambda + diagonal_of(curvature) - diagonal_of(top * transposed(top)));
    std::vector<bool> used_u(static_cast<std::size_t>(rank)), used_v(used_u);
    Dense next(dimension, rank);
    for (Index k = 0; k < rank; ++k) {
      Index best_i = -1, best_j = -1;
      double best = -1, cosine = 0;
      for (Index j = 0; j < rank; ++j)
        for (Index i = 0; i < rank; ++i) {
          if (used_u[static_cast<std::size_t>(i)] || used_v[static_cast<std::size_t>(j)]) continue;
          const double value = cosine_of(columns_of(u, i, 1), columns_of(top, j, 1));
          if (std::abs(value) > best) best = std::abs(value), cosine = value, best_i = i, best_j = j;
        }
      used_u[static_cast<std::size_t>(best_i)] = used_v[static_cast<std::size_t>(best_j)] = true;
      for (Index r = 0; r < dimension; ++r)
        next(r, best_i) = (1 - rate) * u(r, best_i) + (cosine < 0 ? -rate : rate) * top(r, best_j);
    }
    u = next;
    const Dense precision = u * transposed(u) + diagonal_matrix(d);
    mean = mean - length * (inverse_of(precision) * m);
  }

  Dense eigen_columns(const Dense& a) const {
    const Eigen eigen = eigen_of(a);
    Dense out(dimension, rank);
    for (Index k = 0; k < std::min(rank, count); ++k)
      for (Index r = 0; r < dimension; ++r)
        out(r, k) = std::sqrt(std::max(0.0, eigen.values[static_cast<std::size_t>(k)])) * eigen.vectors(r, k);
    return out;
  }
  static double cosine_of(const Dense& a, const Dense& b) {
    const double norms = std::sqrt(dot(a, a) * dot(b, b));
    return norms > 0 ? dot(a, b) / norms : 0;
  }

  void step() {
    const Dense b = rounded<T>(random.normal(dimension, count));
    Padded<T> w(random.uniform(count, 1, 0.1, 1)), m(random.normal(dimension, 1)), prior(lambda);
    DenseRows<T> rows;
    const auto to = rows.resize(dimension, count);
    for (Index j = 0; j < count; ++j)
      for (Index i = 0; i < dimension; ++i) to(i, j) = static_cast<T>(b(i, j));
    PosteriorStep<T> step{*q};
    step.m = m.column();
    step.curvature = {&rows, w.column(), {}, {}};
    step.curvature_rate = rate;
    step.mean_rate = length;
    step.prior_precision = prior.column();
    step.low_rank_update = LowRankUpdate::moving_average;
    step.projection = {method, 6, 8};
    auto next = low_rank_of<T>(Random(99).normal(dimension, rank), d);  // overwritten
    Scratch scratch;
    next->update(step, scratch);
    q->swap(*next);
    expect(b, w.dense(), m.dense());
  }
};

template <class T>
void check(Index dimension, Index rank, Index count, EigenMethod method) {
  Course<T> course(dimension, rank, count, method);
  const double tolerance = sizeof(T) == 8 ? 1e-10 : 2e-4;
  for (int t = 0; t < 6; ++t) {
    course.step();
    const Dense u = dense_of(course.q->u());
    assert_close("U U^T", u * transposed(u), course.u * transposed(course.u), tolerance);
    assert_close("d", column_of(course.q->d()), course.d, tolerance);
    assert_close("mean", column_of(std::as_const(*course.q).mean()), course.mean, tolerance);
  }
}

template <class T>
void moving_averages_of_eigenpairs(void**) {
  for (const EigenMethod method :
       {EigenMethod::automatic, EigenMethod::gram, EigenMethod::outer, EigenMethod::randomized}) {
    check<T>(12, 1, 6, method);
    check<T>(15, 3, 6, method);
    check<T>(9, 4, 2, method);  // more columns than rows: some stay zero
    check<T>(5, 5, 7, method);
  }
}

/// Streams have no fixed prior, and the average no place for one that moves.
void streams_are_refused(void**) {
  const auto q = low_rank_of<double>(Dense(4, 2), Dense(4, 1, 1));
  const auto next = q->clone();
  DenseRows<double> rows;
  rows.resize(4, 1);
  const std::vector<double> w{1}, m(4, 0);
  PosteriorStep<double> step{*q};
  step.m = m;
  step.curvature = {&rows, w, {}, {}};
  step.low_rank_update = LowRankUpdate::moving_average;
  Scratch scratch;
  expect_error(Status::ERROR_UNSUPPORTED, "low_rank_update", [&] { next->update(step, scratch); });
}

}  // namespace

int test_moving_average() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(moving_averages_of_eigenpairs<double>),
      cmocka_unit_test(moving_averages_of_eigenpairs<float>),
      cmocka_unit_test(streams_are_refused),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
