"""Pages: rules are added to a tool after they were tried, and taken away."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from core.edits import Edited
from core.pages import ConsoleView
from core.questions import Question, QuestionView
from registry.curl import example_arguments
from registry.edits import rule_edited
from registry.models import Tool
from registry.policy.named import persona_named
from registry.rules.forms import RuleForm, example_text
from registry.rules.judge import rules_of
from registry.rules.reading import rule_try, rules_told
from registry.rules.services import NAMES, rule_add, rule_check, rule_named, rule_remove
from registry.selectors import tool_detail
from security.models import User
from security.people import person_of
from security.policy.selectors import standing_of
from security.sharing.perms import PermsOn
from toolhub_sdk.checks.rule_names import names_gone


class ToolRules(ConsoleView):
    """A tool's rules, those of its contract too, and a form to add one."""

    permission = "registry.view_tool"
    template = "registry/tool_rules.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The page."""
        tool = tool_detail(name, person_of(request), self.permission)
        definition = tool.active.definition if tool.active else {}
        return self._show(tool, RuleForm(initial={"arguments": example_text(example_arguments(definition))}))

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """Tries the rule, or adds it; or shows what is wrong."""
        tool, form = tool_detail(name, person_of(request), self.permission), RuleForm(request.POST)
        if request.POST.get("act") == "try":
            said = form.attempt(lambda: _tried(form, person_of(request)))
            return self._show(tool, form, said or "", status=200 if said else 422)
        made = form.attempt(lambda: rule_add(by=person_of(request), tool=tool, **form.rule))
        if made is None:
            return self._show(tool, form, status=422)
        messages.success(request, f"The rule holds from the next call of {tool.name} on.")
        return redirect("tool_rules", name=tool.name)

    def _show(self, tool: Tool, form: RuleForm, said: str = "", status: int = 200) -> HttpResponse:
        definition = tool.active.definition if tool.active else {}
        gone = names_gone(form.rule, definition.get("inputSchema", {})) if said else ()
        return self.show(
            {
                "tool": tool,
                "perms": PermsOn(person_of(self.request), tool),
                "form": form,
                "added": rules_told(tool),
                "declared": rules_of(definition),
                "names": NAMES,
                "said": said,
                "holds": said == HOLDS,
                "gone": gone,
            },
            status=status,
        )


HOLDS = "It holds: this call may go on."


def _tried(form: RuleForm, by: User) -> str:
    rule = rule_check(**form.rule)
    persona = persona_named(form.cleaned_data["persona"], by)
    who = (persona.name, standing_of(persona).tier) if persona else ("", "")
    return rule_try(rule, form.cleaned_data["arguments"], {}, *who) or HOLDS


class ToolRuleRemove(QuestionView):
    """Asks, then takes a rule away."""

    permission = "registry.change_tool"

    def about(self, name: str, row: int) -> Edited[Any] | None:
        """The rule."""
        tool = tool_detail(name, person_of(self.request), self.permission)
        rule_named(tool, row)
        return rule_edited(tool, row)

    def get(self, request: HttpRequest, name: str, row: int) -> HttpResponse:
        """The question."""
        rule = rule_named(tool_detail(name, person_of(request), self.permission), row)
        touched = [f"Calls of {name} are no longer held to it, from the next one on.", rule["expression"]]
        back = reverse("tool_rules", args=[name])
        return self.ask(Question(f"Take the rule {row} away?", touched, "Take it away", back))

    def post(self, request: HttpRequest, name: str, row: int) -> HttpResponse:
        """The act."""
        rule_remove(
            by=person_of(request), tool=tool_detail(name, person_of(request), self.permission), rule_id=row
        )
        messages.success(request, f"The rule {row} is taken away.")
        return redirect("tool_rules", name=name)
