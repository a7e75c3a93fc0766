// Inner products of gradients by their factors: <g_r, g_s> = sum over pairs of positions p, q of the products
// of their patches and of their sensitivities, <a_rp, a_sq> <e_rp, e_sq>. Cheaper than the gradients
// themselves where maps are small (docs/mathematics/rows.md, "Rows of a convolution").
#pragma once

#include "network/block_rows.hpp"
#include "network/convolution/patch_products.hpp"

namespace bdl {

/// Sections of rows, and those that have inputs of their own.
struct GramSize {
  Index examples, sections, input_sections;
  Index rows() const { return examples * sections; }
  Index input_rows() const { return examples * input_sections; }
};

/// Flops, if the factors fit into memory that is little; else infinite.
double factored_gram_flops(const ConvShape& shape, const GramSize& size);

/// Lower triangle of out = G^T G, or out += G^T G, the bias included.
template <class T>
void factored_gram(const ConvShape& shape, const PatchFactors<T>& factors, const GramSize& size, bool add,
                   MatrixView<double> out, Scratch& scratch);

}  // namespace bdl
