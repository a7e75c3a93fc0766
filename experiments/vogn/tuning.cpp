#include "tuning.hpp"

#include <cmath>
#include <cstdlib>

#include "scores.hpp"
#include "support/table.hpp"

namespace vogn {
namespace {

const support::Row header = {"network", "method", "trial",    "epochs", "decay",  "dropout",
                             "options", "nll",    "accuracy", "ece",    "seconds"};

std::string path_of(const Settings& settings) {
  return settings.results + "/tuning.csv";
}

support::Row attempt(const Course& course, const Method& method, std::size_t t, const support::Images& images,
                     const Settings& settings) {
  const int64_t held = images.count() / 10;
  const Part kept{images, 0, images.count() - held}, out{images, kept.count, held};
  const Trial& trial = method.trials[t];
  const std::string checkpoint = settings.results + "/tuning.safetensors";
  const Learned learned = train(course, method, trial, kept, 1, checkpoint);
  const std::vector<double> p =
      learned.has_diverged ? std::vector<double>() : predict(learned, method, out, course.classes);
  support::Row row{support::number(trial.decay), support::number(trial.rate), trial.options};
  const Scores scores = p.empty() ? Scores{0, HUGE_VAL, 1, 0.5} : score(p, out, course.classes);
  for (const double value : {scores.nll, scores.accuracy, scores.ece, learned.seconds})
    row.push_back(support::number(value, 4));
  return row;
}

}  // namespace

void tune(const Course& course, const Method& method, const support::Images& images,
          const Settings& settings) {
  support::Table table(path_of(settings), header, 4);
  for (std::size_t t = 0; t < trials_each; ++t) {
    support::Row row{course.network, method.label, std::to_string(t), std::to_string(course.epochs)};
    if (table.done(row)) continue;
    const support::Row found = attempt(course, method, t, images, settings);
    row.insert(row.end(), found.begin(), found.end());
    table.add({row});
    std::printf("%s %-12s trial %zu, %s epochs: NLL %s, accuracy %s %%, ECE %s, %s s\n", row[0].c_str(),
                method.label, t, row[3].c_str(), row[7].c_str(), row[8].c_str(), row[9].c_str(),
                row[10].c_str());
    std::fflush(stdout);
  }
}

Trial chosen(const std::string& network, const Method& method, const Settings& settings) {
  const std::string label = method.members > 1 ? "adam" : method.label;
  std::size_t best = 0;
  double least = HUGE_VAL;
  for (const support::Row& row : support::read_csv(path_of(settings)))
    if (row.size() == header.size() && row[0] == network && row[1] == label &&
        std::strtod(row[7].c_str(), nullptr) < least) {
      least = std::strtod(row[7].c_str(), nullptr);
      best = static_cast<std::size_t>(std::atoi(row[2].c_str()));
    }
  return find_method(label).trials[best];
}

}  // namespace vogn
