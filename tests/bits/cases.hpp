// The list of what bdl_bits trains.
#pragma once

#include <string>

#include "bits/problem.hpp"

namespace bits {

struct Case {
  const Problem* problem;
  Family family;
  const char* method;
  std::string options;  // "name=value name=value", beyond the method's own

  std::string name() const;
};

/// Every method with every family, refused or not, and what options change; the problems must outlive it.
class Cases {
 public:
  Cases();
  const std::vector<Case>& all() const { return cases_; }

 private:
  void add(const std::vector<Problem>& problems, const std::vector<Family>& families,
           const std::vector<const char*>& methods, const std::vector<std::string>& options = {""});
  std::vector<Problem> small_, likelihoods_, wide_;
  std::vector<Case> cases_;
};

}  // namespace bits
