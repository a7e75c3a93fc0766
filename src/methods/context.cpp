#include "methods/context.hpp"

#include "model/user_model.hpp"
#include "network/graph.hpp"

namespace bdl {

template <class T>
MethodContext context_of(const Model<T>* model, Index data_size) {
  MethodContext context;
  context.data_size = data_size;
  if (!model) return context;
  context.has_model = true;
  context.likelihood = model->likelihood.kind();
  context.is_exact = model->has_exact_expectations();
  if (const Graph<T>* graph = model->graph()) {
    context.is_network = true;
    context.input = graph->input();
    context.has_hidden = graph->hidden_layers() > 0;
    context.is_deep = graph->hidden_layers() > 1;
    context.is_linear = graph->is_linear();
    for (std::size_t w = 0; w < graph->wires(); ++w)
      if (graph->wire(static_cast<Index>(w)).layout != Layout::columns) context.has_maps = true;
    context.without_second_derivatives = graph->first_without(Need::second_derivatives);
    context.without_one_function = graph->first_without(Need::one_function);
    context.without_separate_examples = graph->first_without(Need::separate_examples);
  } else if (const auto* user = dynamic_cast<const UserModel<T>*>(model)) {
    context.has_gradients = user->has_gradients();
  }
  return context;
}

template MethodContext context_of(const Model<float>*, Index);
template MethodContext context_of(const Model<double>*, Index);

}  // namespace bdl
