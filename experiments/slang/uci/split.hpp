// One training and test split of one data set.
#ifndef SLANG_UCI_SPLIT_HPP
#define SLANG_UCI_SPLIT_HPP

#include <string>
#include <vector>

namespace uci {

struct Job {
  std::string folder;  ///< of data.csv and test_rows.csv
  std::string method;
  std::vector<std::string> options;  ///< "name=value", for experiments; the published table uses none
  double dropout_rate = 0;           ///< of mc-dropout; other methods have a posterior of rank
  int rank = 0, epochs = 0, samples = 0, split = 0;
};

/// In the target's own units.
struct Score {
  double rmse = 0;
  double per_point = 0, joint = 0;        ///< log likelihoods per test example
  double coverage = 0;                    ///< of 90 % intervals
  double train_seconds = 0, seconds = 0;  ///< CPU time of this thread
};

Score run(const Job& job);

}  // namespace uci

#endif
