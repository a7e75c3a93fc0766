#include "predict/gaussian_outputs.hpp"
#include "predict/memory.hpp"
#include "predict/overflow.hpp"
#include "predict/predict.hpp"
#include "predict/result.hpp"

namespace bdl {

template <class T>
void predict_output_distribution(const Query<T>& query, const OutArray& mean, const OutArray& covariance) {
  check_query(query);
  const Index rows = query.x.rows, outputs = query.model.outputs();
  const MemoryOf<T> memory(query);
  Result means(memory->results[0], mean, rows, outputs, "mean");
  Result covariances(memory->results[1], covariance, rows, outputs * outputs, "covariance");
  const Standardization& standardization = query.model.standardization;
  visit_gaussian_outputs<T>(query, *memory, [&](Index i, ConstSpan<double> m, ConstMatrixView<double> s) {
    double *mean_out = means.row(i).data(), *covariance_out = covariances.row(i).data();
    const auto known = [](double value) { return std::isnan(value) ? overflow::infinity : value; };
    for (Index c = 0; c < outputs; ++c) {
      *mean_out++ = known(standardization.to_caller(c, m[static_cast<std::size_t>(c)]));
      for (Index b = 0; b < outputs; ++b)
        *covariance_out++ = known(standardization.variance_to_caller(c, b, s(b, c)));  // symmetric
    }
  });
  write_predictions(means, covariances);
}

template void predict_output_distribution(const Query<float>&, const OutArray&, const OutArray&);
template void predict_output_distribution(const Query<double>&, const OutArray&, const OutArray&);

}  // namespace bdl
