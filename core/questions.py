"""Pages that ask before they act. With JavaScript the same page is asked in a dialog."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from core.edits import Edited, editing, version_sent
from core.errors import Denied, NotFound, ToolHubError
from core.forms import VERSION_FIELD
from core.pages import ConsoleView
from core.submissions.pages import FIELD as KEY_FIELD
from core.submissions.pages import form_key_new


@dataclass(frozen=True)
class Question:
    """What is asked: what the act touches, the words of both buttons, and where leaving leads.

    `calm` is an act that destroys nothing; `hidden` goes along with the answer. Without an `action` the act
    cannot be done yet: `touched` says what has to come before it.
    """

    title: str
    touched: Sequence[str]
    action: str
    back: str
    calm: bool = False
    leave: str = "Cancel"
    hidden: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def switch(cls, name: str, *, on: bool, touched: Sequence[str], back: str) -> "Question":
        """Whether to switch something on or off; the answer says which, whoever was faster."""
        way = "on" if on else "off"
        return cls(
            f"Switch {name} {way}?",
            touched,
            f"Switch it {way}",
            back,
            calm=on,
            hidden={"on": "yes" if on else "no"},
        )


def switch_wanted(request: HttpRequest) -> bool:
    """The answer to `Question.switch`: True for on."""
    return request.POST.get("on") == "yes"


class QuestionView(ConsoleView):
    """`get` asks, `post` acts.

    An answer counts only while what was asked about is still so; else it is asked again, as it is then (409).
    """

    template = "components/confirm.html"
    refusal: ToolHubError | None = None

    def about(self, *args: Any, **kwargs: Any) -> Edited[Any] | None:
        """The thing that the question is about, by the parts of the address; None where none can change.

        Raises NotFound for what the person may not change.
        """
        raise NotImplementedError

    def ask(self, question: Question) -> HttpResponse:
        """The page, or the dialog's part."""
        thing = self.about(**self.kwargs)
        hidden = {KEY_FIELD: form_key_new(), **question.hidden}
        if thing is not None:
            hidden[VERSION_FIELD] = thing.version
        context = {"question": question, "form": {"hidden_values": hidden}, "refusal": self.refusal}
        return self.show(context, status=self.refusal.known.status if self.refusal else 200)

    def handle(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Holds the thing while `post` acts; asks again where it is refused."""
        if request.method != "POST":
            return super().handle(request, *args, **kwargs)
        try:
            thing = self.about(**kwargs)
            if thing is None:
                return super().handle(request, *args, **kwargs)
            with editing(thing, version_sent(request.POST.get(VERSION_FIELD))):
                return super().handle(request, *args, **kwargs)
        except (NotFound, Denied):
            raise
        except ToolHubError as error:
            self.refusal = error
            return self.get(request, *args, **kwargs)  # type: ignore[attr-defined, no-any-return]
