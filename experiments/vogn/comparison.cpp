// Every method beside the others on one network and the first 10,000 images of CIFAR-10.
#include <algorithm>
#include <vector>

#include "experiments.hpp"
#include "scores.hpp"
#include "support/table.hpp"
#include "tuning.hpp"

namespace vogn {
namespace {

struct Comparison {
  Course course;
  std::vector<const char*> labels;
  int64_t tuning_epochs;  ///< 0: without tuning, by the trials below
  std::vector<std::size_t> trials;
};

// AlexNet goes without K-FAC: its largest factor takes 40 s an eigenproblem, and linearised predictions
// hours.
const Comparison comparisons[] = {
    {{"lenet5", 10, 30, 128, 1, "initialization=he"},
     {"adam", "vogn", "ivon", "sgd", "dropout", "ensemble", "bbb", "elrg K=2", "ogn", "kfac-laplace",
      "noisy-kfac", "slang L=4", "vogn recipe"},
     30,
     {}},
    {{"alexnet", 10, 20, 128, 10, "initialization=he augment_pad=4 augment_flip=1"},
     {"adam", "vogn", "ivon", "sgd", "dropout", "ensemble", "bbb", "elrg K=2", "ogn", "slang L=4",
      "vogn recipe"},
     6,
     {}},
    {{"resnet18", 10, 10, 128, 10, "initialization=he_fan_out augment_pad=4 augment_flip=1"},
     {"adam", "vogn", "ivon"},
     0,
     {0, 0, 1}},
};

const Comparison& find_comparison(const std::string& network) {
  for (const Comparison& comparison : comparisons)
    if (network == comparison.course.network) return comparison;
  support::stop("unknown network " + network + ", expected lenet5, alexnet or resnet18");
}

struct Job {
  const Course& course;
  const Method& method;
  Trial trial;
  int64_t seed;

  support::Row key() const {
    return {course.network, method.label, std::to_string(seed), std::to_string(course.epochs)};
  }
  std::string checkpoint(const Settings& settings) const {
    std::string name = course.network + "-" + method.label + "-" + std::to_string(seed);
    std::ranges::replace(name, ' ', '-');
    return settings.results + "/" + name + ".safetensors";
  }
};

class Tables {
 public:
  explicit Tables(const std::string& folder)
      : networks_(folder + "/networks.csv",
                  {"network", "method", "seed", "epochs", "accuracy", "nll", "ece", "auroc", "train_accuracy",
                   "train_nll", "seconds_per_epoch"},
                  4),
        predictions_(folder + "/predictions.csv",
                     {"network", "method", "seed", "epochs", "log_probabilities", "confidences"}, 4) {}
  bool done(const Job& job) const { return networks_.done(job.key()); }
  void add(const Job& job, const Scores& test, const Scores& train, const PerImage& images, double seconds) {
    support::Row row = job.key();
    row.insert(row.end(), {images.log_probabilities, images.confidences});
    if (!predictions_.done(job.key())) predictions_.add({row});
    row = job.key();
    for (const double value :
         {test.accuracy, test.nll, test.ece, test.auroc, train.accuracy, train.nll, seconds})
      row.push_back(support::number(value, 4));
    networks_.add({row});
  }

 private:
  support::Table networks_, predictions_;
};

void run(const Job& job, const support::Split& data, const Settings& settings, Tables& tables) {
  const Course& course = job.course;
  const Learned learned =
      train(course, job.method, job.trial, whole(data.train), job.seed, job.checkpoint(settings));
  if (learned.has_diverged) support::stop(course.network + " " + job.method.label + " has diverged");
  const Part seen = beginning(data.train, 2000), test = whole(data.test);
  const std::vector<double> of_test = predict(learned, job.method, test, course.classes),
                            of_seen = predict(learned, job.method, seen, course.classes);
  if (of_test.empty() || of_seen.empty())
    support::stop(course.network + " " + job.method.label + " predicts nothing that has a meaning");
  const Scores scores = score(of_test, test, course.classes), train = score(of_seen, seen, course.classes);
  const double each = learned.seconds / static_cast<double>(course.epochs);
  tables.add(job, scores, train, of_each_image(of_test, test, course.classes), each);
  std::printf(
      "%s %-12s seed %lld, %lld epochs: accuracy %.1f %%, NLL %.4f, ECE %.4f, AUROC %.3f; train %.1f %%, "
      "%.4f; %.2f s an epoch\n",
      course.network.c_str(), job.method.label, static_cast<long long>(job.seed),
      static_cast<long long>(course.epochs), scores.accuracy, scores.nll, scores.ece, scores.auroc,
      train.accuracy, train.nll, each);
  std::fflush(stdout);
}

/// In the order of the table: what says most first.
Trial trial_of(const Comparison& comparison, const Course& course, std::size_t m,
               const support::Images& images, const Settings& settings) {
  const Method& method = find_method(comparison.labels[m]);
  if (comparison.tuning_epochs == 0) return method.trials[comparison.trials[m]];
  Course shorter = course;
  shorter.epochs = std::min(comparison.tuning_epochs, course.epochs);
  if (method.members == 1) tune(shorter, method, images, settings);
  return chosen(course.network, method, settings);
}

}  // namespace

void compare(const std::string& network, const Settings& settings) {
  const Comparison& comparison = find_comparison(network);
  const support::Split data = settings.quick ? support::stand_in_split("cifar10", 60, 40)
                                             : support::read_split("cifar10", settings.data);
  Course course = comparison.course;
  if (settings.epochs > 0) course.epochs = settings.epochs;
  course.options += " " + settings.options;
  Tables tables(settings.results);
  for (int64_t seed = 1; seed <= settings.seeds; ++seed)
    for (std::size_t m = 0; m < comparison.labels.size(); ++m) {
      const Method& method = find_method(comparison.labels[m]);
      if (!settings.only.empty() && settings.only != method.label) continue;
      Job job{course, method, {}, seed};
      if (tables.done(job)) continue;
      job.trial = trial_of(comparison, course, m, data.train, settings);
      run(job, data, settings, tables);
    }
}

}  // namespace vogn
