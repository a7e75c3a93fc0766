// The experiments, each of which fills one file of the results.
#ifndef BONG_EXPERIMENTS_HPP
#define BONG_EXPERIMENTS_HPP

#include <string>

namespace bong {

struct Settings {
  std::string data = ".", results = ".";
  int threads = 1;
  bool quick = false;
};

/// prior.csv and tune.csv: bong's prior precision, then prior precisions and learning rates of the other
/// rules, on validation rows.
void tune(const Settings& settings);

/// stream.csv: rule x curvature x family on MNIST and SARCOS with the rates of tune.csv.
void stream(const Settings& settings);

/// sensitivity.csv: the same against the learning rate, on SARCOS.
void sensitivity(const Settings& settings);

/// cost.csv: seconds per observation against the number of parameters.
void cost(const Settings& settings);

/// drift.csv: two streams whose truth moves, filters with and without dynamics.
void drift(const Settings& settings);

}  // namespace bong

#endif
