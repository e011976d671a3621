"""Views of the API that are given Django's own request, for what is called most."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.views import APIView

from core.problems import drf_exception_handler
from core.query import query_check


class PlainView(APIView):
    """A view whose POST is not wrapped by DRF, which took a tenth of a call's processor time.

    `post` sees to authentication and body itself, by the functions that DRF's classes use. Errors, the
    answer's headers and the description are as everywhere, and so are the other methods.
    """

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        # Answers, or raises what `core.problems` knows. A docstring would describe every view in the API.
        raise NotImplementedError

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method != "POST":
            return super().dispatch(request, *args, **kwargs)
        try:
            if request.META.get("QUERY_STRING"):
                query_check(self, "post", request.GET)
            response = self.post(request, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 - each leaves as a problem, as with DRF
            response = drf_exception_handler(error, {"view": self})
        response["Allow"] = ", ".join(self.allowed_methods)
        return response
