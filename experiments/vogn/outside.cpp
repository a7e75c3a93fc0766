// Whether a network knows what it has not seen: digits against clothes, both ways, and images of two classes
// of CIFAR-10 that training had none of.
#include <vector>

#include "experiments.hpp"
#include "scores.hpp"
#include "support/table.hpp"
#include "tuning.hpp"

namespace vogn {
namespace {

using support::Images;

constexpr const char* labels[] = {"adam",     "dropout",      "vogn",      "ivon",
                                  "ensemble", "kfac-laplace", "noisy-kfac"};
constexpr int64_t most_tested = 2000;  // of each side
constexpr std::size_t entropy_bins = 20;

struct Detection {
  const char* name;
  int64_t classes, epochs;
  Images train, inside, outside;
};

/// Images whose class is below `classes`, or the others.
Images of_classes(const Images& images, int64_t classes, bool below) {
  Images found{images.channels, images.rows, images.columns, {}, {}};
  for (int64_t i = 0; i < images.count(); ++i) {
    const int32_t label = images.labels[static_cast<std::size_t>(i)];
    if ((label < classes) != below) continue;
    const auto first = images.pixels.begin() + i * images.numbers();
    found.pixels.insert(found.pixels.end(), first, first + images.numbers());
    found.labels.push_back(label);
  }
  return found;
}

Detection prepare(const std::string& name, const Settings& settings) {
  const auto split = [&](const char* set) {
    return settings.quick ? support::stand_in_split(set, 60, 40) : support::read_split(set, settings.data);
  };
  if (name == "near") {
    const support::Split cifar = split("cifar10");
    return {"near",
            8,
            20,
            of_classes(cifar.train, 8, true),
            of_classes(cifar.test, 8, true),
            of_classes(cifar.train, 8, false)};
  }
  const bool are_digits = name == "mnist-fashion";
  support::Split in = split(are_digits ? "mnist" : "fashion-mnist"),
                 out = split(are_digits ? "fashion-mnist" : "mnist");
  return {are_digits ? "mnist-fashion" : "fashion-mnist",
          10,
          are_digits ? 5 : 20,
          std::move(in.train),
          std::move(in.test),
          std::move(out.test)};
}

struct Tables {
  support::Table &scores, &histogram;
};

support::Row text_of(const std::vector<double>& values) {
  support::Row row;
  for (const double value : values) row.push_back(support::number(value, 4));
  return row;
}

/// The shares of rows by their entropy.
void add_histogram(support::Row row, const char* side, const std::vector<double>& p, const Part& part,
                   int64_t classes, support::Table& table) {
  std::vector<double> counts(entropy_bins);
  support::check(
      bdl_metric_entropy_histogram(bdl_f64(p.data(), part.count, classes),
                                   bdl_f64_out(counts.data(), static_cast<int64_t>(counts.size()), 1)));
  row.emplace_back(side);
  for (const double count : counts)
    row.push_back(support::number(count / static_cast<double>(part.count), 4));
  table.add({row});
}

void run(const Detection& detection, const Course& course, const Method& method, const support::Row& key,
         const Settings& settings, int64_t seed, Tables tables) {
  const Learned learned =
      train(course, method, chosen("lenet5", method, settings), whole(detection.train), seed, "");
  const Part inside = beginning(detection.inside, most_tested),
             outside = beginning(detection.outside, most_tested);
  const std::vector<double> in = predict(learned, method, inside, course.classes),
                            out = predict(learned, method, outside, course.classes);
  const Scores scores = score(in, inside, course.classes);
  bdl_ood_report report{};
  report.struct_size = sizeof report;
  support::check(bdl_metric_ood(bdl_f64(in.data(), inside.count, course.classes),
                                bdl_f64(out.data(), outside.count, course.classes), BDL_SCORE_CONFIDENCE,
                                &report));
  support::Row row = key;
  const support::Row numbers =
      text_of({scores.accuracy, scores.nll, scores.ece, report.auroc, report.aupr, report.fpr95,
               report.detection_error, report.entropy_inside, report.entropy_outside});
  row.insert(row.end(), numbers.begin(), numbers.end());
  add_histogram(key, "inside", in, inside, course.classes, tables.histogram);
  add_histogram(key, "outside", out, outside, course.classes, tables.histogram);
  tables.scores.add({row});
  std::printf("%s %-12s: accuracy %.2f %%, AUROC %.4f, FPR95 %.3f\n", detection.name, method.label,
              scores.accuracy, report.auroc, report.fpr95);
  std::fflush(stdout);
}

support::Row histogram_header() {
  support::Row header{"pair", "method", "seed", "epochs", "side"};
  for (std::size_t b = 0; b < entropy_bins; ++b) header.push_back("bin" + std::to_string(b));
  return header;
}

}  // namespace

void detect_outside(const Settings& settings) {
  support::Table scores(settings.results + "/outside.csv",
                        {"pair", "method", "seed", "epochs", "accuracy", "nll", "ece", "auroc", "aupr",
                         "fpr95", "detection_error", "entropy_inside", "entropy_outside"},
                        4),
      histogram(settings.results + "/histogram.csv", histogram_header(), 4);
  for (const char* name : {"mnist-fashion", "fashion-mnist", "near"}) {
    const Detection detection = prepare(name, settings);
    const int64_t epochs = settings.epochs > 0 ? settings.epochs : detection.epochs;
    const Course course{"lenet5", detection.classes, epochs, 128, 1, "initialization=he"};
    for (int64_t seed = 1; seed <= settings.seeds; ++seed)
      for (const char* label : labels) {
        const support::Row key{name, label, std::to_string(seed), std::to_string(epochs)};
        if (scores.done(key) || (!settings.only.empty() && settings.only != label)) continue;
        run(detection, course, find_method(label), key, settings, seed, {scores, histogram});
      }
  }
}

}  // namespace vogn
