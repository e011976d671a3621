"""Pages that ask before they act. With JavaScript the same page is asked in a dialog."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.http import HttpRequest, HttpResponse

from core.pages import ConsoleView


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
    """`get` asks, `post` acts."""

    template = "components/confirm.html"

    def ask(self, question: Question) -> HttpResponse:
        """The page, or the dialog's part."""
        return self.show({"question": question})
