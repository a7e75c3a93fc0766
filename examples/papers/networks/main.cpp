// The convolutional networks of Osawa et al. (2019): LeNet-5 on MNIST, AlexNet and ResNet-18 on CIFAR-10, by
// one method each run: test error, negative log likelihood, calibration error and time of an epoch, beside
// each other after equal epochs. networks NETWORK --data DIR --results DIR [--epochs N] [--quick]
#include <bdl/bdl.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "support/handles.hpp"
#include "support/images.hpp"
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
    {"map", "map", 0, "", false, 0}, {"vogn", "slang", 0, ""}, {"slang L=1", "slang", 1, ""},
    {"slang L=10", "slang", 10, ""}, {"bbb", "bbb", 0, ""},    {"mc-dropout", "mc-dropout", 0, "", true},
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

struct Arguments {
  std::string network, data, results;
  int64_t epochs = 0;
  bool quick = false;
};

Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--quick")
      arguments.quick = true;
    else if (word == "--data" && has_value)
      arguments.data = argv[++i];
    else if (word == "--results" && has_value)
      arguments.results = argv[++i];
    else if (word == "--epochs" && has_value)
      arguments.epochs = std::stoll(argv[++i]);
    else if (arguments.network.empty() && word[0] != '-')
      arguments.network = word;
    else
      support::stop("networks NETWORK --data DIR --results DIR [--epochs N] [--quick]");
  }
  if (arguments.network.empty() || arguments.results.empty())
    support::stop("networks NETWORK --data DIR --results DIR [--epochs N] [--quick]");
  return arguments;
}

struct Split {
  Images train, test;
};

Split read_data(const Experiment& experiment, const std::string& data) {
  if (std::strcmp(experiment.set, "mnist") == 0) {
    const std::string mnist = data + "/mnist/";
    return {support::read_idx(mnist + "train-images-idx3-ubyte.gz", mnist + "train-labels-idx1-ubyte.gz"),
            support::read_idx(mnist + "t10k-images-idx3-ubyte.gz", mnist + "t10k-labels-idx1-ubyte.gz")};
  }
  const std::string cifar = data + "/cifar10/";
  return {support::read_cifar10({cifar + "train_00000_04999.bin.xz", cifar + "train_05000_09999.bin.xz"}),
          support::read_cifar10({cifar + "test_0000_0999.bin.xz"})};
}

/// In place of data.
Images stand_in(const Experiment& experiment, int64_t count) {
  const bool is_gray = std::strcmp(experiment.set, "mnist") == 0;
  return is_gray ? support::bright_rows(1, 28, count) : support::bright_rows(3, 32, count);
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

struct Scores {
  double error, nll, calibration;
};

Scores score(const support::Model& model, const support::Posterior& posterior, const Method& method,
             const Images& test) {
  const int64_t n = test.count();
  std::vector<double> probabilities(static_cast<std::size_t>(n * 10)),
      log_density(static_cast<std::size_t>(n));
  const bdl_predict_method by = method.draws > 0 ? BDL_MONTE_CARLO : BDL_PLUG_IN;
  check(bdl_predict_classes(model.get(), posterior.get(), test.x(0, n), by, method.draws, 1,
                            bdl_f64_out(probabilities.data(), n, 10), bdl_none_out(), bdl_none_out()));
  check(bdl_predict_log_density(model.get(), posterior.get(), test.x(0, n), test.y(0, n), by, method.draws, 1,
                                bdl_f64_out(log_density.data(), n, 1)));
  double accuracy = 0, log_likelihood = 0, ece = 0;
  const bdl_matrix p = bdl_f64(probabilities.data(), n, 10);
  check(bdl_metric_accuracy(p, test.y(0, n), &accuracy));
  check(bdl_metric_ece(p, test.y(0, n), 20, &ece));
  check(bdl_metric_log_predictive_density(bdl_f64(log_density.data(), n, 1), &log_likelihood, nullptr));
  return {100 * (1 - accuracy), -log_likelihood, ece};
}

void set_options(bdl_optimizer* optimizer, const Experiment& experiment, const Method& method) {
  check(bdl_optimizer_set_text(optimizer, experiment.options));
  check(bdl_optimizer_set_text(optimizer, method.options));
  check(bdl_optimizer_set_int(optimizer, "minibatch", experiment.minibatch));
}

void run(const Experiment& experiment, const Method& method, const Split& data, int64_t epochs,
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
  const Scores scores = score(model, posterior, method, data.test);
  const double each = seconds.count() / static_cast<double>(epochs);
  table.add(
      {{experiment.network, method.label, std::to_string(epochs), support::number(scores.error, 3),
        support::number(scores.nll, 4), support::number(scores.calibration, 3), support::number(each, 3)}});
  std::printf("%-9s %-11s %3lld epochs: error %5.2f %%  NLL %.4f  ECE %.4f  %.1f s an epoch\n",
              experiment.network, method.label, static_cast<long long>(epochs), scores.error, scores.nll,
              scores.calibration, each);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = read_arguments(argc, argv);
  const Experiment& experiment = find_experiment(arguments.network);
  const Split data = arguments.quick ? Split{stand_in(experiment, 200), stand_in(experiment, 100)}
                                     : read_data(experiment, arguments.data);
  const int64_t epochs = arguments.quick ? 1 : arguments.epochs > 0 ? arguments.epochs : experiment.epochs;
  support::Table table(arguments.results + "/networks.csv",
                       {"network", "method", "epochs", "error", "nll", "ece", "seconds_per_epoch"}, 3);
  for (std::size_t m = 0; m < experiment.methods_used; ++m)
    if (!table.done({experiment.network, methods[m].label, std::to_string(epochs)}))
      run(experiment, methods[m], data, epochs, table);
}
