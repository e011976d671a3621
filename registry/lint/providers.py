"""How tools fit the providers of models, for the review page."""

from toolhub_sdk.providers.fit import Fit, fits_of

__all__ = ["Fit", "fits_of"]
