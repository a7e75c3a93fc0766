// Effects of the temperature, the prior and the number of draws on VOGN: LeNet-5 on CIFAR-10.
#include <vector>

#include "experiments.hpp"
#include "scores.hpp"
#include "support/table.hpp"
#include "training.hpp"

namespace vogn {
namespace {

struct Setting {
  const char* what;
  double value;
  std::string options;
  double decay = 2e-3;
};

/// One of the three after another leaves tau = 1, reg = 2e-3 (delta = 20) and K = 2.
std::vector<Setting> all_settings() {
  std::vector<Setting> all;
  for (const double tau : {0.01, 0.03, 0.1, 0.3, 1.0})
    all.push_back({"tau", tau, "kl_start=0 kl_warmup=0 samples=2 kl_weight=" + support::number(tau)});
  for (const double decay : {2e-5, 2e-4, 2e-3, 2e-2}) all.push_back({"decay", decay, "samples=2", decay});
  for (const int k : {1, 2, 4, 8})
    all.push_back({"K", static_cast<double>(k), "samples=" + std::to_string(k)});
  return all;
}

}  // namespace

void show_effects(const Settings& settings) {
  const support::Split data = settings.quick ? support::stand_in_split("cifar10", 60, 40)
                                             : support::read_split("cifar10", settings.data);
  const Course course{"lenet5", 10, settings.epochs > 0 ? settings.epochs : 10, 128, 1, "initialization=he"};
  support::Table table(settings.results + "/effects.csv",
                       {"what", "value", "seed", "epochs", "accuracy", "nll", "ece", "auroc",
                        "train_accuracy", "train_nll", "seconds_per_epoch"},
                       4);
  const Method& method = find_method("vogn");
  for (int64_t seed = 1; seed <= settings.seeds; ++seed)
    for (const Setting& setting : all_settings()) {
      support::Row row{setting.what, support::number(setting.value), std::to_string(seed),
                       std::to_string(course.epochs)};
      if (table.done(row) || (!settings.only.empty() && settings.only != setting.what)) continue;
      const Trial trial = vogn_trial("learning_rate=1e-3 " + setting.options, setting.decay);
      const Learned learned = train(course, method, trial, whole(data.train), seed, "");
      const Part test = whole(data.test), seen = beginning(data.train, 2000);
      const Scores on_test = score(predict(learned, method, test, 10), test, 10),
                   on_seen = score(predict(learned, method, seen, 10), seen, 10);
      for (const double value : {on_test.accuracy, on_test.nll, on_test.ece, on_test.auroc, on_seen.accuracy,
                                 on_seen.nll, learned.seconds / static_cast<double>(course.epochs)})
        row.push_back(support::number(value, 4));
      table.add({row});
      std::printf("vogn, %s = %s: accuracy %s %%, NLL %s, ECE %s\n", setting.what, row[1].c_str(),
                  row[4].c_str(), row[5].c_str(), row[6].c_str());
      std::fflush(stdout);
    }
}

}  // namespace vogn
