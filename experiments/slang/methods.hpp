// The methods of Tables 1 and 4, as rows of one table.
#ifndef SLANG_METHODS_HPP
#define SLANG_METHODS_HPP

#include "logistic.hpp"
#include "support/table.hpp"

namespace slang {

const std::vector<Method>& methods();

/// The full Gaussian of largest ELBO, which the others are judged against.
const Method& exact_method();

Row key_of(const DataSet& set, const Method& method, int split);
std::string posterior_file(const DataSet& set, const Method& method, int split);

/// Loads the posterior that table1 has stored in the results; null if there is none.
Posterior load_posterior(const std::string& results, const DataSet& set, const Method& method, int split);

}  // namespace slang

#endif
