#include <algorithm>
#include <cmath>

#include "predict/gaussian_outputs.hpp"
#include "predict/memory.hpp"
#include "predict/overflow.hpp"
#include "predict/predict.hpp"
#include "predict/result.hpp"

namespace bdl {
namespace {

/// Most of the curvature along a row that the row itself may account for.
constexpr double most_own_share = 0.99;

double known(double value) {
  return std::isnan(value) ? overflow::infinity : value;
}

}  // namespace

template <class T>
void predict_leverage(const Query<T>& asked, const OutArray& leverage, const OutArray& left_out) {
  Query<T> query = asked;
  query.spec.method = BDL_LINEARIZED;
  check_query(query);
  const Likelihood& likelihood = query.model.likelihood;
  const Index means = likelihood.means();
  const MemoryOf<T> memory(query);
  Result plain(memory->results[0], leverage, query.x.rows, 1, "leverage");
  Result without(memory->results[1], left_out, query.x.rows, 1, "left_out");
  visit_gaussian_outputs<T>(query, *memory, [&](Index i, ConstSpan<double> m, ConstMatrixView<double> s) {
    double sum = 0, sum_without = 0;
    for (Index c = 0; c < means; ++c) {
      const double share = likelihood.information(m.data(), c) * s(c, c);
      sum += s(c, c);
      sum_without += s(c, c) / (1 - std::min(share, most_own_share));
    }
    plain(i, 0) = known(sum / static_cast<double>(means));
    without(i, 0) = known(sum_without / static_cast<double>(means));
  });
  write_predictions(plain, without);
}

template void predict_leverage(const Query<float>&, const OutArray&, const OutArray&);
template void predict_leverage(const Query<double>&, const OutArray&, const OutArray&);

}  // namespace bdl
