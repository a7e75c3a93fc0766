#include <algorithm>

#include "predict/gaussian_outputs.hpp"
#include "predict/predict.hpp"
#include "predict/result.hpp"

namespace bdl {

template <class T>
void predict_output_distribution(const Query<T>& query, const Array& mean, const Array& covariance) {
  check_query(query);
  const Index rows = query.x.rows, outputs = query.model.outputs();
  Result means(mean, rows, outputs, "mean");
  Result covariances(covariance, rows, outputs * outputs, "covariance");
  visit_gaussian_outputs<T>(query, [&](Index i, ConstSpan<double> m, ConstMatrixView<double> s) {
    std::ranges::copy(m, means.row(i).begin());
    std::copy_n(s.data, s.size(), covariances.row(i).begin());  // symmetric
  });
  write_results(means, covariances);
}

template void predict_output_distribution(const Query<float>&, const Array&, const Array&);
template void predict_output_distribution(const Query<double>&, const Array&, const Array&);

}  // namespace bdl
