// Regression on the UCI data sets of Gal and Ghahramani (2016) with their published splits: a network of one
// hidden layer of 50 ReLU units, default options, no search. Fills uci.csv, in which finished splits are not
// run again, and prints the verdict against table 2 of Mishkin et al. (2018).
#include <bdl/bdl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "published.hpp"
#include "split.hpp"
#include "verdict.hpp"

namespace {

using support::Row;

struct Settings {
  std::string folder = ".", results = ".";
  std::vector<std::string> datasets, methods = {"slang-ggn"}, options;
  int first = 0, splits = 20, epochs = 120, rank = 20, samples = 500, threads = 1;
  double dropout_rate = 0.05;
};

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t comma = 0; (comma = text.find(',', begin)) != std::string::npos; begin = comma + 1)
    parts.push_back(text.substr(begin, comma - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

void set(Settings& settings, const std::string& flag, const std::string& value) {
  const int number = std::atoi(value.c_str());
  if (flag == "--folder")
    settings.folder = value;
  else if (flag == "--results")
    settings.results = value;
  else if (flag == "--datasets")
    settings.datasets = split_commas(value);
  else if (flag == "--methods")
    settings.methods = split_commas(value);
  else if (flag == "--option")
    settings.options.push_back(value);
  else if (flag == "--first")
    settings.first = number;
  else if (flag == "--splits")
    settings.splits = number;
  else if (flag == "--epochs")
    settings.epochs = number;
  else if (flag == "--rank")
    settings.rank = number;
  else if (flag == "--dropout-rate")
    settings.dropout_rate = std::atof(value.c_str());
  else if (flag == "--samples")
    settings.samples = number;
  else if (flag == "--threads")
    settings.threads = number;
  else
    support::stop("no flag " + flag);
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (const uci::Published& row : uci::published) settings.datasets.emplace_back(row.name);
  for (int i = 1; i + 1 < argc; i += 2) set(settings, argv[i], argv[i + 1]);
  return settings;
}

/// Returns the posterior's rank, or the dropout rate for mc-dropout.
std::string rank_of(const Settings& settings, const std::string& method) {
  return method == "mc-dropout" ? support::number(settings.dropout_rate) : std::to_string(settings.rank);
}

/// The columns that all splits of a method on a data set share.
Row key_of(const Settings& settings, const std::string& data, const std::string& method) {
  std::string options;
  for (const std::string& option : settings.options) options += (options.empty() ? "" : " ") + option;
  return {data,
          method,
          rank_of(settings, method),
          std::to_string(settings.epochs),
          std::to_string(settings.samples),
          options.empty() ? "default" : options};
}

void run_split(const Settings& settings, Row row, int split, support::Table& table) {
  const uci::Job job{settings.folder + "/" + row[0],
                     row[1],
                     settings.options,
                     settings.dropout_rate,
                     settings.rank,
                     settings.epochs,
                     settings.samples,
                     split};
  row.push_back(std::to_string(split));
  if (table.done(row)) return;
  const uci::Score score = uci::run(job);
  for (double value :
       {score.rmse, score.per_point, score.joint, score.coverage, score.train_seconds, score.seconds})
    row.push_back(support::number(value, 8));
  table.add({row});
  std::fprintf(stderr, "%s %s split %d: RMSE %.4f, log likelihood %.4f, %.1f s\n", row[0].c_str(),
               row[1].c_str(), split, score.rmse, score.per_point, score.seconds);
}

/// Returns the results of a method under these settings that the file holds.
std::vector<Row> results_of(const Settings& settings, const std::string& path, const std::string& method) {
  std::vector<Row> found;
  for (const Row& row : support::read_csv(path)) {
    if (row.size() != uci::columns.size() || std::ranges::count(settings.datasets, row[0]) == 0) continue;
    const Row wanted = key_of(settings, row[0], method);
    const int split = std::atoi(row[wanted.size()].c_str());
    if (std::equal(wanted.begin(), wanted.end(), row.begin()) && split >= settings.first &&
        split < settings.first + settings.splits)
      found.push_back(row);
  }
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = parse(argc, argv);
  const std::string path = settings.results + "/uci.csv";
  support::Table table(path, uci::columns, uci::key_columns);
  const auto splits = static_cast<std::size_t>(settings.splits);
  for (const std::string& method : settings.methods)
    support::in_parallel(settings.threads, settings.datasets.size() * splits, [&](std::size_t i) {
      const Row key = key_of(settings, settings.datasets[i / splits], method);
      run_split(settings, key, settings.first + static_cast<int>(i % splits), table);
    });
  for (const std::string& method : settings.methods) {
    std::printf("method %s, rank (or dropout rate) %s, %d epochs, %d posterior draws, %s; %s\n\n",
                method.c_str(), rank_of(settings, method).c_str(), settings.epochs, settings.samples,
                key_of(settings, "", method).back().c_str(), bdl_build_info());
    uci::print_verdicts(results_of(settings, path, method));
  }
  return 0;
}
