// Networks known by name.
#include <mutex>
#include <set>

#include "bdl/model.h"
#include "c_api/convert.hpp"
#include "network/published.hpp"

namespace bdl {
namespace {

/// An equal text that stays where it is until the process ends.
const char* kept_text(std::string text) {
  static std::mutex mutex;
  static std::set<std::string> texts;
  const std::lock_guard lock(mutex);
  return texts.insert(std::move(text)).first->c_str();
}

}  // namespace
}  // namespace bdl

using namespace bdl;

int64_t bdl_network_count(void) {
  return static_cast<int64_t>(published_networks().size());
}

bdl_status bdl_network_describe(int64_t index, const char** name, int64_t* channels, int64_t* rows,
                                int64_t* columns, int64_t* outputs, const char** doc, const char** source) {
  return guard("bdl_network_describe", [&] {
    check_range(index, 0, bdl_network_count() - 1, "index");
    const PublishedNetwork& network = published_networks()[static_cast<std::size_t>(index)];
    if (name) *name = network.name;
    if (channels) *channels = network.input.channels;
    if (rows) *rows = network.input.rows;
    if (columns) *columns = network.input.columns;
    if (outputs) *outputs = network.outputs;
    if (doc) *doc = network.doc;
    if (source) *source = network.source;
  });
}

bdl_status bdl_network_description(const char* name, int64_t channels, int64_t rows, int64_t columns,
                                   int64_t outputs, const char** text) {
  return guard("bdl_network_description", [&] {
    not_null(name, "name");
    not_null(text, "text");
    check_range(channels, 1, blas_limit, "channels");
    check_range(rows, 1, blas_limit, "rows");
    check_range(columns, 1, blas_limit, "columns");
    check_range(outputs, 1, blas_limit, "outputs");
    *text = kept_text(description_of(find_published_network(name), {channels, rows, columns}, outputs));
  });
}
