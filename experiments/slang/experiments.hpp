// The experiments, each of which fills its own files of the results.
#ifndef SLANG_EXPERIMENTS_HPP
#define SLANG_EXPERIMENTS_HPP

#include <string>

namespace slang {

struct Settings {
  std::string data = ".", results = ".";
  std::string only;  ///< part of a job's name; jobs without it are left out
  int threads = 1;
  bool quick = false;
};

/// Tables 1, 4, 6 and 7: train.csv and posteriors/, one file per data set, method, rank and split. Nothing
/// that is there is trained again.
void table1(const Settings& settings);

/// metrics.csv, of all posteriors that table1 has left and that are not in it.
void metrics(const Settings& settings);

/// trace.csv and convergence.csv: the ELBO by epochs, and after how many it is within 1 % of its end (figures
/// 4, 6).
void convergence(const Settings& settings);

/// curve.csv and curve-elbo.csv: predictive bands of a cubic function (figure 8).
void curve(const Settings& settings);

/// covariance/: means and covariances of table1's posteriors of the first split (figures 1 and 7).
void figures(const Settings& settings);

}  // namespace slang

#endif
