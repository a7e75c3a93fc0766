#include "model/coefficients.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/overlap.hpp"
#include "c_api/convert.hpp"
#include "c_api/handles.hpp"

namespace bdl {
namespace {

/// Converts rows of parameters one by one.
void convert(const CoefficientMap& map, const Array& parameters, const OutArray& coefficients) {
  Buffer<double> theta(parameters.cols), values(map.count() * parameters.rows);
  const auto out = values.matrix(map.count(), parameters.rows);
  in_chunks(parameters.rows, parameters.cols, [&](Index i) {
    gather(parameters, i, theta.matrix(parameters.cols, 1));
    map.apply(theta.first(parameters.cols), out.column(i));
  });
  write_result<double>(out, coefficients, "coefficients");
}

/// Computes A Sigma A^T for the linear part A of the map, from the columns of Sigma.
template <class T>
void convert_covariance(const CoefficientMap& map, const Posterior<T>& q, MatrixView<double> out) {
  const Index d = q.dimension(), k = map.count();
  std::vector<Index> all(static_cast<std::size_t>(d));
  std::iota(all.begin(), all.end(), Index{0});
  Buffer<double> sigma_memory(d * d), half_memory(d * k);
  const auto sigma = sigma_memory.matrix(d, d), half = half_memory.matrix(d, k);
  Scratch scratch;
  covariance_block<T>(q, all, all, sigma, scratch);
  Buffer<double> column(k);
  for (Index j = 0; j < d; ++j) {  // row j of Sigma A^T
    map.apply(sigma.column(j), column.first(k), false);
    for (Index c = 0; c < k; ++c) half(j, c) = column.first(k)[static_cast<std::size_t>(c)];
  }
  for (Index c = 0; c < k; ++c) map.apply(half.column(c), out.column(c), false);
}

}  // namespace
}  // namespace bdl

using namespace bdl;

int64_t bdl_model_coefficient_count(const bdl_model* model, int64_t base_class) {
  if (!model) return 0;
  return std::visit([&](const auto& m) { return coefficient_count(*m, base_class); }, model->object);
}

bdl_status bdl_model_coefficients(const bdl_model* model, int64_t base_class, bdl_matrix parameters,
                                  bdl_matrix_out coefficients) {
  return interruptible_guard(__func__, model, "model", [&](const auto& m) {
    const CoefficientMap map(m, base_class);
    check_shape(parameters, -1, m.parameters(), "parameters");
    check_finite(parameters, "parameters");
    check_output(coefficients, parameters.rows, map.count(), "coefficients");
    check_apart({{"coefficients", coefficients}}, {{"parameters", parameters}});
    convert(map, parameters, coefficients);
  });
}

bdl_status bdl_posterior_coefficients(const bdl_posterior* posterior, const bdl_model* model,
                                      int64_t base_class, bdl_matrix_out mean, bdl_matrix_out covariance) {
  return interruptible_guard(__func__, [&] {
    with_both(model, posterior, [&]<class T>(const Model<T>& m, const Posterior<T>& q) {
      const CoefficientMap map(m, base_class);
      const Index d = q.dimension(), k = map.count();
      if (given(mean)) check_output(mean, 1, k, "mean");
      if (given(covariance)) {
        check_output(covariance, k, k, "covariance");
        check_has_covariance(q);
      }
      check_apart({{"mean", mean}, {"covariance", covariance}});
      Buffer<double> theta(d), center(k), spread(given(covariance) ? k * k : 0);
      std::ranges::copy(q.mean(), theta.first(d).data());
      map.apply(theta.first(d), center.first(k));
      if (given(mean)) check_result<double>(center.matrix(k, 1), mean, "mean");
      if (given(covariance)) {
        convert_covariance(map, q, spread.matrix(k, k));
        check_result<double>(spread.matrix(k, k), covariance, "covariance");
      }
      if (given(mean)) scatter<double>(center.matrix(k, 1), mean);
      if (given(covariance)) scatter<double>(spread.matrix(k, k), covariance);
    });
  });
}
