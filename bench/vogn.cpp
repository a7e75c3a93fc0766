// Steps of natural gradients of deep networks (VOGN, IVON, K-FAC) beside steps of a point estimate.
#include "api.hpp"
#include "cases.hpp"
#include "machine.hpp"
#include "timing.hpp"

namespace bench {
namespace {

class Training {
 public:
  Training(const Record& parameters, const std::string& method)
      : minibatch_(parameters.integer("M")),
        model_(published_network(parameters.text("network"))),
        posterior_(make_posterior(method)),
        x_(uniform<float>(minibatch_ * bdl_model_inputs(model_.get()), 1.0F)),
        y_(static_cast<std::size_t>(minibatch_)) {
    for (std::size_t i = 0; i < y_.size(); ++i) y_[i] = static_cast<float>(i * i % 10);
    bdl_optimizer* optimizer = nullptr;
    check(bdl_optimizer_create(model_.get(), posterior_.get(), method.c_str(), 50000, &optimizer));
    optimizer_.reset(optimizer);
    set("learning_rate=1e-4");
    if (method != "map" && method != "laplace") set("samples=1");
    if (method == "kfac")
      set("fisher=" + parameters.text("fisher") + " factor_interval=" + parameters.text("refresh") +
          " eigen_interval=" + parameters.text("refresh"));
  }

  void steps(int64_t count) {
    for (int64_t i = 0; i < count; ++i) check(bdl_optimizer_step(optimizer_.get(), x(minibatch_), y()));
  }
  void approximate() { check(bdl_optimizer_laplace(optimizer_.get(), x(minibatch_), y())); }
  void predict(int64_t rows) {
    std::vector<float> probabilities(static_cast<std::size_t>(rows * 10));
    check(bdl_predict_classes(model_.get(), posterior_.get(), x(rows), BDL_LINEARIZED, 100, 1,
                              matrix_out(probabilities, rows, 10), bdl_matrix_out{}, bdl_matrix_out{}));
  }

 private:
  bdl_matrix x(int64_t rows) { return matrix(x_, rows, bdl_model_inputs(model_.get())); }
  bdl_matrix y() { return matrix(y_, minibatch_, 1); }
  Posterior make_posterior(const std::string& method) const {
    if (method != "kfac" && method != "laplace")
      return bench::make_posterior(BDL_F32, bdl_model_parameters(model_.get()), 0);
    bdl_posterior* posterior = nullptr;
    check(bdl_posterior_create_kronecker(model_.get(), &posterior));
    return Posterior(posterior);
  }
  void set(const std::string& options) { check(bdl_optimizer_set_text(optimizer_.get(), options.c_str())); }

  int64_t minibatch_;
  Model model_;
  Posterior posterior_;
  std::vector<float> x_, y_;
  Optimizer optimizer_;
};

/// Returns the target for the time of a step, in units of a step of map.
double target(const std::string& network) {
  return network == "lenet5" ? 1.4 : network == "alexnet" ? 1.7 : network == "resnet18" ? 1.6 : 1.25;
}

/// Laplace's approximation by the Gauss-Newton matrix of all M, and linearised predictions of 100 rows.
std::vector<Record> laplace(const Record& parameters) {
  Training training(parameters, "laplace");
  training.steps(1);
  const std::vector<double> ms =
      by_turns(parameters.has("quick"), {[&] { training.approximate(); }, [&] { training.predict(100); }});
  Record line = parameters;
  return {line.set("ms", ms[0]).set("ms_predict", ms[1]).set("peak_mb", peak_megabytes())};
}

}  // namespace

std::vector<Record> vogn(const Record& parameters) {
  if (parameters.text("method") == "laplace") return laplace(parameters);
  const int64_t together = parameters.has("refresh") ? parameters.integer("refresh") : 1;
  Training ours(parameters, parameters.text("method")), plain(parameters, "map");
  const std::vector<double> ms =
      by_turns(parameters.has("quick"), {[&] { ours.steps(together); }, [&] { plain.steps(together); }});
  const auto count = static_cast<double>(together);
  Record line = parameters;
  line.set("ms", ms[0] / count).set("ms_map", ms[1] / count).set("over_map", ms[0] / ms[1]);
  if (together == 1) line.set("target", target(parameters.text("network")));
  return {line.set("peak_mb", peak_megabytes())};
}

}  // namespace bench
