// The convolutional networks of Osawa et al. (2019): LeNet-5 on MNIST, AlexNet and ResNet-18 on CIFAR-10, by
// one method each run: test error, negative log likelihood, calibration error and time of an epoch, beside
// each other after equal epochs. networks NETWORK --data DIR --results DIR [--epochs N] [--quick]
#include <bdl/bdl.h>

#include <chrono>

#include "support/arguments.hpp"
#include "support/class_scores.hpp"
#include "support/handles.hpp"
#include "support/table.hpp"

namespace {

using support::check;
using support::Images;

struct Method {
  const char *label, *method;
  int64_t rank;
  const char* options;
  bool has_dropout = false;
  int64_t draws = 10;  ///< of predictions; 0: at the mean
};

constexpr Method methods[] = {
    {"map", "map", 0, "", false, 0}, {"vogn", "vogn", 0, ""}, {"slang L=1", "slang", 1, ""},
    {"slang L=10", "slang", 10, ""}, {"bbb", "bbb", 0, ""},   {"mc-dropout", "mc-dropout", 0, "", true},
};

struct Experiment {
  const char *network, *set;
  int64_t epochs, minibatch;
  int64_t counts;            ///< an image's, for what augmentation makes of it: the paper's rho
  const char* options;       ///< of all methods
  std::size_t methods_used;  ///< the first ones
};

constexpr Experiment experiments[] = {
    {"lenet5", "mnist", 15, 128, 1, "", 6},
    {"alexnet", "cifar10", 8, 128, 10, "augment_pad=4 augment_flip=1 initialization=he start_share=0", 2},
    {"resnet18", "cifar10", 8, 128, 10,
     "augment_pad=4 augment_flip=1 initialization=he_fan_out start_share=0", 2},
};

const Experiment& find_experiment(const std::string& network) {
  for (const Experiment& experiment : experiments)
    if (network == experiment.network) return experiment;
  support::stop("unknown network " + network + ", expected lenet5, alexnet or resnet18");
}

support::Model make_model(const Experiment& experiment, const Images& train) {
  const char* text = nullptr;
  bdl_model* model = nullptr;
  check(bdl_network_description(experiment.network, train.channels, train.rows, train.columns, 10, &text));
  check(bdl_model_create_network(BDL_F32, text, BDL_CATEGORICAL, &model));
  support::Model owned(model);
  check(bdl_model_standardize(model, train.x(0, train.count()), bdl_none()));
  return owned;
}

support::Posterior make_posterior(const Method& method, const support::Model& model) {
  bdl_posterior* posterior = nullptr;
  check(method.has_dropout ? bdl_posterior_create_dropout(model.get(), 0, 0.1, &posterior)
                           : bdl_posterior_create_low_rank(BDL_F32, bdl_model_parameters(model.get()),
                                                           method.rank, &posterior));
  return support::Posterior(posterior);
}

void set_options(bdl_optimizer* optimizer, const Experiment& experiment, const Method& method) {
  check(bdl_optimizer_set_text(optimizer, experiment.options));
  check(bdl_optimizer_set_text(optimizer, method.options));
  check(bdl_optimizer_set_int(optimizer, "minibatch", experiment.minibatch));
}

void run(const Experiment& experiment, const Method& method, const support::Split& data, int64_t epochs,
         support::Table& table) {
  const support::Model model = make_model(experiment, data.train);
  const support::Posterior posterior = make_posterior(method, model);
  bdl_optimizer* created = nullptr;
  check(bdl_optimizer_create(model.get(), posterior.get(), method.method,
                             experiment.counts * data.train.count(), &created));
  const support::Optimizer optimizer(created);
  set_options(created, experiment, method);
  const auto start = std::chrono::steady_clock::now();
  check(bdl_optimizer_fit(created, data.train.x(0, data.train.count()), data.train.y(0, data.train.count()),
                          epochs, nullptr, nullptr));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const support::ClassScores scores =
      support::score_classes(model.get(), posterior.get(), data.test, method.draws, 20);
  const double each = seconds.count() / static_cast<double>(epochs);
  table.add({{experiment.network, method.label, std::to_string(epochs), support::number(scores.error, 3),
              support::number(-scores.log_likelihood, 4), support::number(scores.calibration, 3),
              support::number(each, 3)}});
  std::printf("%-9s %-11s %3lld epochs: error %5.2f %%  NLL %.4f  ECE %.4f  %.1f s an epoch\n",
              experiment.network, method.label, static_cast<long long>(epochs), scores.error,
              -scores.log_likelihood, scores.calibration, each);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const support::Arguments arguments(argc, argv,
                                     "networks NETWORK --data DIR --results DIR [--epochs N] [--quick]");
  const Experiment& experiment = find_experiment(arguments.task());
  const bool is_quick = arguments.has("--quick");
  const support::Split data = is_quick ? support::stand_in_split(experiment.set, 200, 100)
                                       : support::read_split(experiment.set, arguments.text("--data"));
  const int64_t epochs = is_quick ? 1 : arguments.number("--epochs", experiment.epochs);
  support::Table table(arguments.text("--results") + "/networks.csv",
                       {"network", "method", "epochs", "error", "nll", "ece", "seconds_per_epoch"}, 3);
  for (std::size_t m = 0; m < experiment.methods_used; ++m)
    if (!table.done({experiment.network, methods[m].label, std::to_string(epochs)}))
      run(experiment, methods[m], data, epochs, table);
}
