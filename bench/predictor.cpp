// Predictions of one row, as a program asks for them that answers one request after the other.
#include "api.hpp"
#include "cases.hpp"
#include "machine.hpp"
#include "timing.hpp"
#include "work.hpp"

namespace bench {

std::vector<Record> predictor(const Record& parameters) {
  const std::vector<int64_t> sizes = sizes_of(parameters.text("shape"));
  const int64_t samples = parameters.integer("S"), outputs = sizes.back();
  const Model model =
      make_model(BDL_F64, sizes, BDL_GAUSSIAN, parameters.text("activation") == "tanh" ? BDL_TANH : BDL_RELU);
  const Posterior posterior =
      random_posterior(bdl_model_parameters(model.get()), parameters.integer("L"), 1e2);
  const Predictor kept = make_predictor(model, posterior, samples);
  const std::vector<double> x = uniform(sizes.front(), 1.0);
  std::vector<double> mean(static_cast<std::size_t>(outputs)), epistemic(mean.size()), noise(mean.size());
  const bdl_matrix row = matrix(x, 1, sizes.front());
  const auto out = [&](std::vector<double>& values) { return matrix_out(values, 1, outputs); };
  const Effort effort{parameters.has("quick") ? 3 : 50, 0};
  const Timing again = time_calls(
      effort, [&] { check(bdl_predictor_moments(kept.get(), row, out(mean), out(epistemic), out(noise))); });
  const Timing once = time_calls(effort, [&] {
    check(bdl_predict(model.get(), posterior.get(), row, BDL_MONTE_CARLO, samples, 1, out(mean),
                      out(epistemic), out(noise)));
  });
  Record line = parameters;
  add_timing(line, again);
  line.set("us_predictor", 1e3 * again.median)
      .set("us_predict", 1e3 * once.median)
      .set("ratio", once.median / again.median)
      .set("peak_mb", peak_megabytes());
  return {line};
}

}  // namespace bench
