// Without tuning: what the library suggests for VOGN and IVON beside MAP by Adam, on networks of images.
#include "experiments.hpp"
#include "scores.hpp"
#include "support/dataset.h"
#include "support/table.hpp"
#include "training.hpp"

namespace vogn {
namespace {

using support::check;

constexpr int64_t most_images = 10000;

struct Fit {
  const char *set, *network;
  const char* method;
  int64_t seed, epochs, draws;
};

double default_of(const std::string& name) {
  for (int64_t i = 0; i < bdl_default_count(); ++i) {
    const char* found = nullptr;
    double value = 0;
    check(bdl_default_describe(i, &found, &value, nullptr));
    if (name == found) return value;
  }
  support::stop("the library has no default of " + name);
}

/// The estimators' network of one hidden layer, or LeNet-5.
std::string network_of(const Fit& fit, const support::Images& images) {
  if (std::string(fit.network) == "lenet5") return fit.network;
  return "input " + std::to_string(images.numbers()) + "\ndense " +
         std::to_string(static_cast<int>(default_of("hidden"))) + "\nrelu\ndense 10";
}

Learned fit_by_default(const Fit& fit, const support::Images& images) {
  const Part train = beginning(images, most_images);
  Member member{make_model({network_of(fit, images), 10, 0, 0, 1, ""}, images), nullptr, nullptr};
  check(bdl_model_standardize(member.model.get(), train.x(), bdl_none()));
  const char *method = nullptr, *family = nullptr, *options = nullptr;
  int64_t rank = 0;
  check(bdl_training_suggest(member.model.get(), train.count, 0, fit.method, "diagonal", &method, &family,
                             &rank, &options));
  bdl_posterior* posterior = nullptr;
  check(bdl_posterior_create_low_rank(BDL_F32, bdl_model_parameters(member.model.get()), 0, &posterior));
  member.posterior.reset(posterior);
  bdl_optimizer* optimizer = nullptr;
  check(bdl_optimizer_create(member.model.get(), posterior, method, train.count, &optimizer));
  member.optimizer.reset(optimizer);
  check(bdl_optimizer_set_text(optimizer, options));
  check(bdl_optimizer_set_int(optimizer, "seed", fit.seed));
  check(bdl_optimizer_set_int(optimizer, "threads", 1));
  Learned learned;
  const double start = cpu_seconds();
  check(bdl_optimizer_fit(optimizer, train.x(), train.y(), fit.epochs, nullptr, nullptr));
  learned.seconds = cpu_seconds() - start;
  learned.members.push_back(std::move(member));
  return learned;
}

std::vector<double> predict_by_default(const Fit& fit, const Learned& learned, const Part& test) {
  const Member& member = learned.members.front();
  bdl_predict_method by{};
  check(bdl_method_prediction(fit.method, member.model.get(), &by));
  std::vector<double> p(static_cast<std::size_t>(test.count * 10));
  check(bdl_predict_classes(member.model.get(), member.posterior.get(), test.x(), by,
                            by == BDL_MONTE_CARLO ? fit.draws : 0, 1, bdl_f64_out(p.data(), test.count, 10),
                            bdl_none_out(), bdl_none_out()));
  return p;
}

}  // namespace

void compare_defaults(const Settings& settings) {
  support::Table table(
      settings.results + "/defaults.csv",
      {"set", "network", "method", "seed", "epochs", "accuracy", "nll", "ece", "auroc", "seconds"}, 5);
  for (const char* set : {"mnist", "fashion-mnist", "cifar10"}) {
    const support::Split data =
        settings.quick ? support::stand_in_split(set, 60, 40) : support::read_split(set, settings.data);
    for (int64_t seed = 1; seed <= settings.seeds; ++seed)
      for (const char* network : {"mlp", "lenet5"})
        for (const char* method : {"map", "vogn", "ivon"}) {
          const bool is_mlp = std::string(network) == "mlp";
          const auto usual = static_cast<int64_t>(default_of(is_mlp ? "epochs" : "image_epochs")),
                     draws_used = static_cast<int64_t>(default_of(is_mlp ? "samples" : "image_samples"));
          const Fit fit{set,
                        network,
                        method,
                        seed,
                        settings.epochs > 0 ? settings.epochs : usual,
                        settings.quick ? 2 : draws_used};
          support::Row row{set, network, method, std::to_string(seed), std::to_string(fit.epochs)};
          if (table.done(row) || (!settings.only.empty() && settings.only != method)) continue;
          const Learned learned = fit_by_default(fit, data.train);
          const Part test = whole(data.test);
          const Scores scores = score(predict_by_default(fit, learned, test), test, 10);
          for (const double value : {scores.accuracy, scores.nll, scores.ece, scores.auroc, learned.seconds})
            row.push_back(support::number(value, 4));
          table.add({row});
          std::printf("%s %s %s: accuracy %.2f %%, NLL %.4f, ECE %.4f, %.1f s\n", set, network, method,
                      scores.accuracy, scores.nll, scores.ece, learned.seconds);
          std::fflush(stdout);
        }
  }
}

}  // namespace vogn
