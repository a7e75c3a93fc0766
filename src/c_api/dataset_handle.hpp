#pragma once

#include <memory>

#include "base/error.hpp"
#include "bdl/dataset.h"
#include "c_api/in_use.hpp"
#include "data/data_set.hpp"

struct bdl_dataset {
  std::unique_ptr<bdl::DataSet> rows;
};

namespace bdl {

/// visit(rows); fails if the handle is NULL. Reading is all that callbacks of the call may do with it.
template <class Visit>
decltype(auto) with_rows(bdl_dataset* dataset, Visit&& visit) {
  if (!dataset) fail(Status::ERROR_INVALID_ARGUMENT, "dataset is NULL");
  const InUse use(dataset, {{"dataset", dataset->rows.get()}});
  return visit(*dataset->rows);
}

}  // namespace bdl
