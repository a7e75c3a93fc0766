#include "verdict.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "published.hpp"

namespace uci {
namespace {

enum Column : std::size_t { name = 0, rmse = 7, ll = 8, joint = 9, coverage = 10, seconds = 12 };
enum Outcome { win, tie, loss };
constexpr const char* words[] = {"win", "tie", "loss"};

using Splits = std::vector<support::Row>;

Figure mean_and_error(const Splits& splits, Column column) {
  const auto n = static_cast<double>(splits.size());
  double mean = 0, squares = 0;
  for (const support::Row& row : splits) mean += std::atof(row[column].c_str()) / n;
  for (const support::Row& row : splits) squares += std::pow(std::atof(row[column].c_str()) - mean, 2);
  return {mean, n > 1 ? std::sqrt(squares / (n - 1) / n) : 0};
}

std::string shown(Figure figure) {
  char text[64];
  const int digits = std::abs(figure.mean) < 0.1 ? 4 : 2;
  std::snprintf(text, sizeof text, "%.*f +- %.*f", digits, figure.mean, digits, figure.error);
  return text;
}

/// `gain`: how much better ours is.
Outcome outcome(double gain, Figure ours, Figure theirs) {
  const double margin = std::max(2 * std::hypot(ours.error, theirs.error), rounding);
  return gain > margin ? win : gain < -margin ? loss : tie;
}

/// Counts of data sets, for one score compared with one published method.
struct Counts {
  int of[3] = {0, 0, 0};

  const char* add(Outcome outcome) {
    ++of[outcome];
    return words[outcome];
  }
  void print(const char* what) const {
    std::printf("%-36s %d won, %d tied, %d lost\n", what, of[win], of[tie], of[loss]);
  }
};

struct Score {
  Column column;
  int sign;  ///< of better values
  Figure Published::*slang;
  Figure Published::*dropout;
  Counts against_slang, against_dropout;

  void print_row(const Published& row, const Splits& splits) {
    const Figure ours = mean_and_error(splits, column), theirs = row.*slang, drop = row.*dropout;
    const Outcome slang_outcome = outcome(sign * (ours.mean - theirs.mean), ours, theirs);
    const Outcome dropout_outcome = outcome(sign * (ours.mean - drop.mean), ours, drop);
    std::printf("%-8s %2zu  %-17s  %-14s %-5s %-14s %-5s", row.label, splits.size(), shown(ours).c_str(),
                shown(theirs).c_str(), against_slang.add(slang_outcome), shown(drop).c_str(),
                against_dropout.add(dropout_outcome));
  }
};

}  // namespace

void print_verdicts(const std::vector<support::Row>& rows) {
  std::map<std::string, Splits> by_data;
  for (const support::Row& row : rows) by_data[row[name]].push_back(row);
  Score likelihood{ll, 1, &Published::slang_ll, &Published::dropout_ll, {}, {}};
  Score error{rmse, -1, &Published::slang_rmse, &Published::dropout_rmse, {}, {}};
  double total = 0;

  std::printf("test log likelihood per point        SLANG, published     dropout, published   joint form\n");
  for (const Published& row : published)
    if (by_data.contains(row.name)) {
      likelihood.print_row(row, by_data[row.name]);
      std::printf(" %s\n", shown(mean_and_error(by_data[row.name], joint)).c_str());
    }
  std::printf(
      "\ntest RMSE                            SLANG, published     dropout, published   90 %% intervals  "
      "CPU time of a split\n");
  for (const Published& row : published)
    if (by_data.contains(row.name)) {
      const Splits& splits = by_data[row.name];
      const double each = mean_and_error(splits, seconds).mean;
      total += each * static_cast<double>(splits.size());
      error.print_row(row, splits);
      std::printf(" %-15s %.1f s\n", shown(mean_and_error(splits, coverage)).c_str(), each);
    }
  std::printf(
      "\na tie is a difference within two standard errors of it, or within the published figure's "
      "rounding\n");
  likelihood.against_slang.print("log likelihood against SLANG:");
  likelihood.against_dropout.print("log likelihood against dropout:");
  error.against_slang.print("RMSE against SLANG:");
  error.against_dropout.print("RMSE against dropout:");
  std::printf("CPU time of all: %.1f min\n\n", total / 60);
}

}  // namespace uci
