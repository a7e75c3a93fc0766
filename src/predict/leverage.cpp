#include <algorithm>
#include <cmath>

#include "predict/gaussian_outputs.hpp"
#include "predict/memory.hpp"
#include "predict/overflow.hpp"
#include "predict/predict.hpp"
#include "predict/result.hpp"

namespace bdl {

template <class T>
void predict_leverage(const Query<T>& asked, const OutArray& leverage) {
  Query<T> query = asked;
  query.spec.method = BDL_LINEARIZED;
  check_query(query);
  const MemoryOf<T> memory(query);
  Result result(memory->results[0], leverage, query.x.rows, 1, "leverage");
  const Index means = query.model.likelihood.means();
  visit_gaussian_outputs<T>(query, *memory, [&](Index i, ConstSpan<double>, ConstMatrixView<double> s) {
    double sum = 0;
    for (Index c = 0; c < means; ++c) sum += s(c, c);
    result(i, 0) = std::isnan(sum) ? overflow::infinity : sum / static_cast<double>(means);
  });
  write_predictions(result);
}

template void predict_leverage(const Query<float>&, const OutArray&);
template void predict_leverage(const Query<double>&, const OutArray&);

}  // namespace bdl
