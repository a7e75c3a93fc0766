#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>

#include "base/overlap.hpp"
#include "c_api/convert.hpp"
#include "c_api/handles.hpp"
#include "linalg/tall/tall.hpp"
#include "parallel/parallel.hpp"
#include "posterior/low_rank/low_rank.hpp"
#include "posterior/point_parameters.hpp"
#include "steps/step.hpp"

namespace bdl {
namespace {

/// Checks long vectors in blocks on every thread; looks for the place only if there is something to report.
template <class T>
void check_in_parallel(ConstMatrixView<T> columns, const OutArray& array, const char* name) {
  constexpr Index block = 1 << 15;
  const Index blocks = (columns.rows + block - 1) / block;
  std::atomic<bool> good{true};
  parallel_for(blocks * columns.cols, [&](Index task) noexcept {
    const Index first = task % blocks * block, count = std::min(block, columns.rows - first);
    const T* const from = columns.column_data(task / blocks) + first;
    if (!all_fit(from, count, array)) good.store(false, std::memory_order_relaxed);
  });
  if (!good.load()) check_result(columns, array, name);
}

/// True for low-rank posteriors, which write each number of a draw or solution once, by a tall product that
/// counts finite numbers.
template <class T>
bool counts_all(const Posterior<T>& q) {
  return q.family() == Family::low_rank;
}

/// Returns the caller's memory if a large result can be computed there. A small one is copied, which costs
/// nothing and leaves that memory as it was if the call fails.
template <class T>
MatrixView<T> place_of_large(const OutArray& out) {
  constexpr double large = 65536;
  return static_cast<double>(out.rows) * static_cast<double>(out.cols) < large ? MatrixView<T>()
                                                                               : in_place<T>(out);
}

/// Draws several samples in one pass over the posterior; straight into the caller's memory if it can hold
/// them.
template <class T>
void draw(const Posterior<T>& q, uint64_t seed, Index first, const OutArray& samples) {
  const Index together = std::min<Index>(8, samples.rows);
  const MatrixView<T> out = place_of_large<T>(samples);
  Scratch scratch;
  FiniteCount finite;
  Buffer<T> thetas(out.data ? 0 : q.dimension() * together);
  for (Index i = 0; i < samples.rows; i += together) {
    const Index count = std::min(together, samples.rows - i);
    const auto columns = out.data ? out.columns(i, count) : thetas.matrix(q.dimension(), count);
    sample(q, {seed, Stream::user, 0, static_cast<std::uint32_t>(first + i)}, columns, scratch);
    const bool all = finite.take() == columns.size() && out.data && counts_all(q);
    if (!all) check_in_parallel<T>(columns, samples, "samples");
    if (!out.data) scatter<T>(columns, samples, i);
  }
}

/// Solves in the memory of `solution` if it can hold the vectors and shares none with them.
template <class T>
void solve(const Posterior<T>& q, const Array& vectors, const OutArray& solution) {
  check_range(vectors.rows, 1, largest_size, "a number of rows");
  const MatrixView<T> out = share_memory(vectors, NamedArray("solution", solution).view)
                                ? MatrixView<T>()
                                : place_of_large<T>(solution);
  Scratch scratch;
  FiniteCount finite;
  Buffer<T> copy(out.data ? 0 : vectors.rows * q.dimension());
  const auto x = out.data ? out : copy.matrix(q.dimension(), vectors.rows);
  gather(vectors, 0, x);
  read_solution(q, x, scratch);
  const bool all = finite.take() == x.size() && out.data && counts_all(q);
  if (!all) check_in_parallel<T>(x, solution, "solution");
  if (!out.data) scatter<T>(x, solution);
}

template <class T>
void read_vector(ConstSpan<T> values, const OutArray& out, const char* name,
                 NonFinite others = NonFinite::refused) {
  write_result<T>({values.data(), static_cast<Index>(values.size()), 1}, out, name, others);
}

void check_indices(const int64_t* indices, Index count, Index dimension, const char* name) {
  not_null(indices, name);
  check_range(count, 1, INT64_MAX, "an index count");
  for (Index k = 0; k < count; ++k) check_range(indices[k], 0, dimension - 1, name);
}

}  // namespace
}  // namespace bdl

using namespace bdl;

int32_t bdl_posterior_has_covariance(const bdl_posterior* posterior) {
  if (!posterior) return 0;
  return std::visit([](const auto& q) { return q->has_covariance(); }, posterior->object);
}

bdl_status bdl_posterior_mean(const bdl_posterior* posterior, bdl_matrix_out mean) {
  return guard(__func__, posterior, "posterior", [&](const auto& q) {
    check_output(mean, 1, q.dimension(), "mean");
    read_vector(q.mean(), mean, "mean");
  });
}

bdl_status bdl_posterior_get_low_rank(const bdl_posterior* posterior, bdl_matrix_out low_rank,
                                      bdl_matrix_out diagonal) {
  return guard(__func__, posterior, "posterior", [&](const auto& q) {
    const auto& low_rank_q = as_low_rank(q);
    const bool has_columns = given_columns(low_rank, q.rank());
    if (has_columns) check_output(low_rank, q.dimension(), q.rank(), "low_rank");
    if (given(diagonal)) check_output(diagonal, 1, q.dimension(), "diagonal");
    check_apart({{"low_rank", low_rank}, {"diagonal", diagonal}});
    if (has_columns) check_result(low_rank_q.u(), transposed(low_rank), "low_rank");
    if (given(diagonal)) read_vector(low_rank_q.d(), diagonal, "diagonal");
    if (has_columns) scatter(low_rank_q.u(), transposed(low_rank));
  });
}

bdl_status bdl_posterior_precision_diagonal(const bdl_posterior* posterior, bdl_matrix_out diagonal) {
  return interruptible_guard(__func__, posterior, "posterior", [&]<class T>(const Posterior<T>& q) {
    check_has_covariance(q);
    check_output(diagonal, 1, q.dimension(), "diagonal");
    Buffer<T> values(q.dimension());
    read_precision_diagonal(q, values.first(q.dimension()));
    // Precisions of point parameters are infinite, as documented.
    read_vector<T>(values.first(q.dimension()), diagonal, "diagonal", NonFinite::documented);
  });
}

bdl_status bdl_posterior_marginal_variance(const bdl_posterior* posterior, bdl_matrix_out variance) {
  return interruptible_guard(__func__, posterior, "posterior", [&]<class T>(const Posterior<T>& q) {
    check_has_covariance(q);
    check_output(variance, 1, q.dimension(), "variance");
    Buffer<T> values(q.dimension());
    Scratch scratch;
    read_marginal_variance(q, values.first(q.dimension()), scratch);
    read_vector<T>(values.first(q.dimension()), variance, "variance");
  });
}

bdl_status bdl_posterior_covariance(const bdl_posterior* posterior, const int64_t* rows, int64_t row_count,
                                    const int64_t* cols, int64_t col_count, bdl_matrix_out covariance) {
  return interruptible_guard(__func__, posterior, "posterior", [&]<class T>(const Posterior<T>& q) {
    check_has_covariance(q);
    check_indices(rows, row_count, q.dimension(), "rows");
    check_indices(cols, col_count, q.dimension(), "cols");
    check_output(covariance, row_count, col_count, "covariance");
    Buffer<double> block(row_count * col_count);
    Scratch scratch;
    // A row of the array is a column of the core, so the block is computed transposed.
    covariance_block<T>(q, {cols, static_cast<std::size_t>(col_count)},
                        {rows, static_cast<std::size_t>(row_count)}, block.matrix(col_count, row_count),
                        scratch);
    write_result<double>(block.matrix(col_count, row_count), covariance, "covariance");
  });
}

bdl_status bdl_posterior_solve(const bdl_posterior* posterior, bdl_matrix vectors, bdl_matrix_out solution) {
  return interruptible_guard(__func__, posterior, "posterior", [&]<class T>(const Posterior<T>& q) {
    check_has_covariance(q);
    check_shape(vectors, -1, q.dimension(), "vectors");
    check_finite<T>(vectors, "vectors");
    check_output(solution, vectors.rows, q.dimension(), "solution");
    check_apart({{"solution", solution}}, {{"vectors", vectors}});
    solve(q, vectors, solution);
  });
}

bdl_status bdl_posterior_sample(const bdl_posterior* posterior, uint64_t seed, int64_t first,
                                bdl_matrix_out samples) {
  return interruptible_guard(__func__, posterior, "posterior", [&](const auto& q) {
    check_output(samples, -1, q.dimension(), "samples");
    check_range(first, 0, INT64_C(0xffffffff), "first");
    check_range(samples.rows, 1, INT64_C(0x100000000) - first, "the number of samples");
    draw(q, seed, first, samples);
  });
}

bdl_status bdl_posterior_log_density(const bdl_posterior* posterior, bdl_matrix parameters,
                                     bdl_matrix_out log_density) {
  return interruptible_guard(__func__, posterior, "posterior", [&]<class T>(const Posterior<T>& q) {
    check_has_covariance(q);
    check_shape(parameters, -1, q.dimension(), "parameters");
    check_finite<T>(parameters, "parameters");
    check_output(log_density, parameters.rows, 1, "log_density");
    check_apart({{"log_density", log_density}}, {{"parameters", parameters}});
    const Buffer<T> thetas = gathered<T>(parameters);
    Buffer<double> values(parameters.rows);
    Scratch scratch;
    for (Index i = 0; i < parameters.rows; ++i)
      values.data()[i] =
          bdl::log_density(q, thetas.matrix(q.dimension(), parameters.rows).column(i), scratch);
    write_result<double>(values.matrix(1, parameters.rows), log_density, "log_density");
  });
}

bdl_status bdl_posterior_log_det_covariance(const bdl_posterior* posterior, double* log_det) {
  return interruptible_guard(__func__, [&] {
    not_null(log_det, "log_det");
    with(posterior, "posterior", [&](const auto& q) {
      check_has_covariance(q);
      *log_det = checked_result(q.log_det_covariance(), "log_det");
    });
  });
}

bdl_status bdl_posterior_entropy(const bdl_posterior* posterior, double* entropy) {
  return interruptible_guard(__func__, [&] {
    not_null(entropy, "entropy");
    with(posterior, "posterior", [&](const auto& q) {
      check_has_covariance(q);
      *entropy = checked_result(bdl::entropy(q), "entropy");
    });
  });
}

bdl_status bdl_posterior_kl_prior(const bdl_posterior* posterior, bdl_matrix prior_precision, double* kl) {
  return interruptible_guard(__func__, [&] {
    not_null(kl, "kl");
    with(posterior, "posterior", [&]<class T>(const Posterior<T>& q) {
      check_has_covariance(q);
      const Buffer<T> precision = gathered_precision<T>(prior_precision, q.dimension(), "prior_precision");
      Scratch scratch;
      *kl = checked_result(kl_to_prior(q, precision.first(q.dimension()), scratch), "kl");
    });
  });
}

bdl_status bdl_posterior_kl(const bdl_posterior* q, const bdl_posterior* p, double* kl) {
  return interruptible_guard(__func__, [&] {
    not_null(kl, "kl");
    with(q, "q", [&]<class T>(const Posterior<T>& from) {
      not_null(p, "p");
      const InUse use = use_of(*p, "p");
      const auto* to = std::get_if<std::shared_ptr<Posterior<T>>>(&p->object);
      if (!to)
        fail(Status::ERROR_SHAPE, "p is %s, q %s", dtype_name(p->object.index()),
             dtype_name(q->object.index()));
      if ((*to)->dimension() != from.dimension())
        fail(Status::ERROR_SHAPE, "p has %lld parameters, q %lld", static_cast<long long>((*to)->dimension()),
             static_cast<long long>(from.dimension()));
      check_has_covariance(from);
      check_has_covariance(**to);
      Scratch scratch;
      *kl = checked_result(bdl::kl(from, **to, scratch), "kl");
    });
  });
}

bdl_status bdl_posterior_update(bdl_posterior* posterior, bdl_matrix rows, double scale, double learning_rate,
                                double curvature_rate, bdl_matrix prior_precision) {
  return interruptible_guard(__func__, [&] {
    if (!(scale > 0 && scale < HUGE_VAL))
      fail(Status::ERROR_INVALID_ARGUMENT, "scale is %g, expected a positive finite number", scale);
    if (!(learning_rate >= 0 && learning_rate < HUGE_VAL))
      fail(Status::ERROR_INVALID_ARGUMENT, "learning_rate is %g, expected a finite number >= 0",
           learning_rate);
    if (!(curvature_rate >= 0 && curvature_rate < 1))
      fail(Status::ERROR_INVALID_ARGUMENT, "curvature_rate is %g, expected [0, 1)", curvature_rate);
    with(posterior, "posterior", [&]<class T>(Posterior<T>& q) {
      check_shape(rows, -1, q.dimension(), "rows");
      check_finite<T>(rows, "rows");
      const Buffer<T> prior = gathered_precision<T>(prior_precision, q.dimension(), "prior_precision");
      DenseRows<T> b;
      take_rows(rows, b);
      natural_gradient_step(q, b, scale, learning_rate, curvature_rate, prior.first(q.dimension()));
    });
  });
}
