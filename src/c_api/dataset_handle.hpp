#pragma once

#include <memory>

#include "bdl/dataset.h"
#include "data/data_set.hpp"

struct bdl_dataset {
  std::unique_ptr<bdl::DataSet> rows;
};
