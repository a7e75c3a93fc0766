"""What the pages of options add to the library's own table: topics, the words of choices, and notes."""

topics = {
    "Step size and schedule": [
        "learning_rate", "curvature_rate", "schedule", "final_rate", "decay", "step_from", "step_every", "step_factor",
        "rate_warmup", "total_steps", "start_share", "momentum", "momentum_form", "guard",
    ],
    "Kind of step": [
        "rule", "curvature", "descent", "mean_update", "low_rank_update", "indefinite", "adam_beta2", "adam_epsilon",
        "scale_parameter", "point_damping", "point_decay",
    ],
    "VOGN, IVON and K-FAC": [
        "damping", "damping_in", "damping_form", "initial_curvature", "factor_interval", "eigen_interval", "kl_clip",
        "rescale_rate", "clip", "tempering",
    ],
    "Minibatches and augmentation": [
        "minibatch", "minibatches", "sampling", "augment_pad", "augment_flip", "augment_fill",
    ],
    "Posterior samples": [
        "samples", "sample_groups", "sample_sharing", "probes", "antithetic", "noise_estimator",
    ],
    "Prior": [
        "prior_precision", "bias_prior_precision", "prior_groups", "prior_scaling", "learn_prior", "kl_weight", "kl_warmup", "kl_start",
    ],
    "Noise and learned scales": [
        "learn_noise", "initial_noise_precision", "learn_degrees_of_freedom", "learn_shape", "heteroscedastic_from", "scales", "learn_from", "scale_rate",
    ],
    "Start and form of the posterior": [
        "initialization", "initial_precision", "diagonal_part", "tied_rank", "low_rank_scale", "low_rank_start", "eigen_method",
        "eigen_passes", "eigen_oversampling",
    ],
    "End of training": [
        "refine", "laplace", "evidence", "evidence_every", "evidence_from", "evidence_step", "fisher", "kronecker_eigenvalues", "swag",
        "swag_from", "swag_every", "tolerance",
    ],
    "Streams": [
        "block", "iterations", "transition", "process_noise", "forgetting", "score", "stream_scales",
    ],
    "Processes, threads and seeds": ["shards", "threads", "progress_every", "seed"],
}  # fmt: skip

words = {
    "rule": {
        "bong": "one natural-gradient step on the expected log likelihood of each observation (streams)",
        "blr": "natural-gradient steps on the ELBO",
        "bog": "one plain gradient step on the expected log likelihood of each observation (streams)",
        "bbb": "plain gradient steps on the ELBO",
        "map": "gradient steps of the mean on the log posterior, so the result is a mode (batches)",
    },
    "curvature": {
        "mc-ef": "empirical Fisher matrix: outer products of the gradients of single examples, at posterior samples",
        "mc-ggn": "generalised Gauss-Newton matrix at posterior samples",
        "mc-hess": "exact Hessian at posterior samples",
        "lin-hess": "generalised Gauss-Newton matrix of the network linearised at the mean",
        "lin-ef": "empirical Fisher matrix of the network linearised at the mean",
        "exact-hess": "exact expectations, for one layer and one output",
        "mc-reparam": "reparametrised gradients of the standard deviations at samples, for diagonal posteriors",
    },
    "descent": {
        "sgd": "the step of the rule itself; for rules map and bbb plain SGD",
        "adam": "Adam on the mean (map), or on means and standard deviations of diagonal posteriors (bbb)",
        "vogn": "natural gradients of diagonal posteriors, with a moving average of the curvature",
        "ivon": "natural gradients of diagonal posteriors, with improved steps that keep the curvature positive",
        "kfac": "natural gradients by Kronecker factors",
    },
    "indefinite": {
        "automatic": "improved with mc-reparam, and in batches with mc-hess on diagonal posteriors; else shorten",
        "shorten": "the step is shortened so that half of the precision (or covariance) is left",
        "error": "the call returns BDL_ERROR_DIVERGED",
        "improved": "natural steps of diagonal and full precisions S by G are of second order: S + G + G S^-1 G / 2",
    },
    "mean_update": {
        "automatic": "before the projection for observe with a low-rank posterior, else after it",
        "projected": "after the projection",
        "unprojected": "before the projection",
    },
    "noise_estimator": {
        "automatic": "the cheapest exact one: local in dense layers, weights in convolutions of 30 or more positions, else flipout",
        "local": "noise of the outputs of each layer, separately for each example",
        "weights": "separate weights for each example",
        "flipout": "one sample of the weights with random signs for each example",
        "shared": "one sample of the weights for the whole minibatch",
    },
    "diagonal_part": {
        "free": "one number for each parameter",
        "block": "one number for each block",
        "fixed": "not learned",
        "tied": "sums of tied_rank products of numbers for rows and columns of each weight matrix; biases are free",
    },
    "prior_scaling": {
        "unit": "as given",
        "fan_in": "times the number of inputs of the parameter's layer",
        "elrg": "times the outputs of a dense layer or the input channels of a convolution",
    },
    "scales": {
        "automatic": "evidence for networks that learn their noise with prior_groups layers, inputs or shared, except by rule map and mc-reparam; else samples",
        "evidence": "the evidence of the network linearised at the mean, at 11 steps of the training run",
        "samples": "the posterior samples of each step",
    },
    "evidence": {
        "none": "not used",
        "after": "at the end of fit",
        "during": "during training as well",
    },
    "initialization": {
        "uniform_fan_in": "weights and biases uniform within 1 / sqrt(inputs)",
        "xavier": "Glorot and Bengio 2010, uniform",
        "he": "He et al. 2015, normal, by the inputs",
        "zero": "all weights 0, for linear models on streams",
        "he_fan_out": "He et al. 2015 by the outputs, for convolutions of ResNets",
        "xavier_normal": "Glorot and Bengio 2010, normal",
    },
    "momentum_form": {
        "corrected": "moving average with corrected bias",
        "average": "plain moving average",
        "heavy_ball": "sum m = momentum m + g",
    },
    "fisher": {
        "exact": "expected Hessian at the outputs",
        "empirical": "outer products of gradients for the data's targets",
        "sampled": "outer products of gradients for one label sampled from the model",
    },
    "stream_scales": {
        "given": "those of the model",
        "learned": "from the first rows, unless the model has a standardisation or the posterior has been set",
    },
}

notes = {
    "learning_rate": "With method bong and its relatives the step has length 1, and the option is not read.",
    "minibatches": "An epoch has as many minibatches, unless they would have fewer than 10 or more than 200 examples.",
    "guard": "In batches, the gradient of an example is scaled so that its loss alone would fall by at least the fraction 1 - c / 2 "
    "of the decrease that the gradient predicts. In observe, a step is halved until the loss of the observation plus the distance from the prior does not rise.",
    "initial_noise_precision": "0 means, with learn_noise: 100 for networks with hidden units, so that the mean fits before the noise, and 1 for other models. "
    "Without learn_noise it means the model's own noise.",
    "initial_precision": "0 means ten times the data size; for classifying networks a tenth of the data size (at least 200 with two hidden layers or more); for networks "
    "of two hidden layers or more that learn by the evidence, the data size; for methods for streams, the prior's precision. If the prior is a posterior of the same kind, natural gradients add half of its precision.",
    "learn_noise": "Rule map learns it at the mean (of networks at the ends of epochs, by effective degrees of freedom); other rules from posterior "
    "samples or the evidence; observe from one-step-ahead residuals; methods exact-* exactly.",
    "learn_shape": "Streams take the shape of their first rows and keep it.",
    "learn_prior": "2 makes classifying networks learn the prior only if, after two thirds of the steps, their evidence is below that of the class frequencies. "
    "Rule map does not learn the prior: use option evidence.",
    "kl_weight": "In a tempered posterior the prior counts less, and the posterior is narrower. Keep 1 if posteriors become priors of later data.",
    "refine": "The refined posterior is Laplace's approximation at the mean, full for up to 500 parameters and of rank 50 for more, with its prior by the evidence.",
    "shards": "0 takes the number that training already has or, at its start, the least power of two that gives each process a shard.",
    "threads": "libbdl does not change the number of threads of BLAS.",
    "heteroscedastic_from": "Before, the mean fits first, with one noise for all rows. Without a plan, the fraction counts of 100 epochs. Not in observe.",
    "low_rank_update": "On streams only `projected` is allowed.",
    "sample_groups": "sample_groups times samples draws in a step cost as much as samples draws.",
    "start_share": "It acts with schedule cosine.",
    "total_steps": "Steps without a plan have constant rates, and steps after its end the final ones.",
    "tolerance": "Precisions must change by less than this fraction, too.",
    "point_decay": "Point parameters have no prior.",
}
