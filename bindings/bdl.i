/* The one SWIG interface of all languages: the public headers, and for each language how its values become arguments. The
   tree that the Julia layer is generated from (BDL_TREE) needs no typemaps. generate.sh runs SWIG. */
%module bdl

#ifndef BDL_TREE
#if defined(SWIGPYTHON)
%include "python/typemaps.i"
#elif defined(SWIGR)
%include "r/typemaps.i"
#endif

/* Typemaps make the views, free the handles and set what interrupts. */
%ignore bdl_matrix;
%ignore bdl_matrix_out;
%ignore bdl_strided;
%ignore bdl_strided_out;
%ignore bdl_f64;
%ignore bdl_f64_out;
%ignore bdl_f32;
%ignore bdl_f32_out;
%ignore bdl_i32;
%ignore bdl_u8;
%ignore bdl_column_major;
%ignore bdl_column_major_out;
%ignore bdl_none;
%ignore bdl_none_out;
%ignore bdl_as_input;
%ignore bdl_model_callbacks;
%ignore bdl_ood_report;
%rename("$ignore", regexmatch$name="_FORCE_INT32$") "";
%ignore bdl_model_free;
%ignore bdl_posterior_free;
%ignore bdl_optimizer_free;
%ignore bdl_predictor_free;
%ignore bdl_search_free;
%ignore bdl_dataset_free;
%ignore bdl_set_interrupt;
%ignore bdl_interrupted;           /* for callbacks in C */
%ignore bdl_set_callback_message;
%ignore bdl_communicator_free;
%ignore bdl_report_error;
#endif

%include "bdl/status.h"
%include "bdl/interrupt.h"
%include "bdl/callback.h"
%include "bdl/matrix.h"
%include "bdl/model.h"
%include "bdl/names.h"
%include "bdl/posterior.h"
#ifndef BDL_TREE
%apply double *WANTED { double *kl };  /* dropout has none */
#endif
%include "bdl/optimizer.h"
#if defined(SWIGR) && !defined(BDL_TREE)
/* The library keeps the addresses of a data set's arrays, so the handle keeps the arrays. */
%typemap(in) bdl_matrix x (SEXP given), bdl_matrix y (SEXP given) {
  given = $input;
  $1 = bdlr_matrix($input, 0, "$symname", "$1_name");
}
%typemap(freearg) bdl_matrix x { bdlr_keep_array(r_ans, 0, given$argnum); }
%typemap(freearg) bdl_matrix y { bdlr_keep_array(r_ans, 1, given$argnum); }
#endif
%include "bdl/dataset.h"
#if defined(SWIGR) && !defined(BDL_TREE)
%clear bdl_matrix x, bdl_matrix y;
#endif
#ifndef BDL_TREE
%clear double *kl;
#endif
%include "bdl/online.h"
%include "bdl/predict.h"
%include "bdl/metrics.h"
%include "bdl/search.h"
%include "bdl/communicator.h"

#ifndef BDL_TREE
/* Parts of a file are read where they are asked for: WANTED takes a truth value and gives a handle or nothing. */
%apply bdl_model **WANTED { bdl_model **model };
%apply bdl_posterior **WANTED { bdl_posterior **posterior };
%apply bdl_optimizer **WANTED { bdl_optimizer **optimizer };
#endif
%include "bdl/checkpoint.h"
#ifndef BDL_TREE
%clear bdl_model **model, bdl_posterior **posterior, bdl_optimizer **optimizer;
#endif

%include "bdl/bdl.h"
