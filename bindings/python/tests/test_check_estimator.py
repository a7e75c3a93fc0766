"""scikit-learn's own checks."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import bdl


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        bdl.BayesianMLPRegressor(),
        bdl.BayesianMLPClassifier(),
        bdl.BayesianConvClassifier("dense 10; relu", dtype="float64"),
        bdl.BayesianConvRegressor("dense 10; relu", dtype="float64"),
        bdl.BayesianGLM(),
        bdl.BayesianGLM("bernoulli"),
        bdl.BayesianGLM("categorical"),
        bdl.DeepEnsembleRegressor(bdl.BayesianMLPRegressor(5, method="map", epochs=40), n_estimators=2),
        bdl.DeepEnsembleClassifier(bdl.BayesianMLPClassifier(5, method="map", epochs=40), n_estimators=2),
    ]
)
def test_estimator(estimator, check):
    check(estimator)
