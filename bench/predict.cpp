// Monte-Carlo predictions of a classification network.
#include "api.hpp"
#include "cases.hpp"
#include "machine.hpp"
#include "timing.hpp"
#include "work.hpp"

namespace bench {

std::vector<Record> predict(const Record& parameters) {
  const std::vector<int64_t> sizes = sizes_of(parameters.text("shape"));
  const int64_t examples = parameters.integer("examples"), samples = parameters.integer("S"),
                classes = sizes.back();
  const Model model = make_model(BDL_F32, sizes, BDL_CATEGORICAL);
  const Posterior posterior =
      random_posterior(bdl_model_parameters(model.get()), parameters.integer("L"), 1e4F);
  const std::vector<float> x = uniform(examples * sizes.front(), 1.0F);
  std::vector<float> mean(static_cast<std::size_t>(examples * classes)), variance(mean.size());
  const Timing timing = time_calls({parameters.has("quick") ? 1 : 3, 0}, [&] {
    check(bdl_predict(model.get(), posterior.get(), matrix(x, examples, sizes.front()), BDL_MONTE_CARLO,
                      samples, 1, matrix_out(mean, examples, classes),
                      matrix_out(variance, examples, classes), bdl_none_out()));
  });
  Record line = parameters;
  add_timing(line, timing);
  add_rates(line, predict_work(sizes, examples, samples, sizeof(float)));
  line.set("peak_mb", peak_megabytes());
  return {line};
}

}  // namespace bench
