// Our results beside the published ones.
#ifndef SLANG_UCI_VERDICT_HPP
#define SLANG_UCI_VERDICT_HPP

#include <vector>

#include "support/table.hpp"

namespace uci {

/// Columns of uci.csv: the first seven name a job.
inline const support::Row columns = {"data",     "method",        "rank",   "epochs", "samples",
                                     "options",  "split",         "rmse",   "ll",     "ll_joint",
                                     "coverage", "train_seconds", "seconds"};
inline constexpr std::size_t key_columns = 7;

/// Tables of test log likelihood and RMSE of all data sets in `rows`, all of one method, each with its
/// verdict: better or worse than published by more than two standard errors of the difference and the
/// published figures' rounding, or a tie; then the counts.
void print_verdicts(const std::vector<support::Row>& rows);

}  // namespace uci

#endif
