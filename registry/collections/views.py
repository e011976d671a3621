"""Pages of collections."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from core.edits import Edited
from core.errors import InvalidRequest
from core.forms import ConsoleForm
from core.lists import ListView
from core.pages import ConsoleView, page_read
from core.questions import Question, QuestionView
from registry.collections.forms import CollectionForm, MembersForm, NewCollectionForm
from registry.collections.models import Collection
from registry.collections.selectors import (
    ASSIGN,
    VIEW,
    addable,
    collection_detail,
    collections_page,
    holders_seen,
    members_seen,
    tools_meant,
)
from registry.collections.services import (
    ADD,
    CHANGE,
    DELETE,
    collection_create,
    collection_delete,
    collection_describe,
    members_change,
)
from registry.edits import COLLECTION
from registry.models import Tool
from security.models import User
from security.people import person_of
from security.sharing.perms import PermsOn

PERSONAS_SHOWN = 50


def _tools(text: str, by: User) -> list[Tool]:
    """The tools whose names a field holds. Raises InvalidRequest at it."""
    try:
        return tools_meant(text.replace(",", " ").split(), by, ASSIGN)
    except InvalidRequest as error:
        message = " ".join(item["message"] for item in error.errors[:3])
        raise InvalidRequest(message, errors=[{"pointer": "/tools", "message": message}]) from error


class CollectionsList(ListView[Collection]):
    """Every collection, by name."""

    permission = VIEW
    template = "registry/collections_list.html"
    heading, noun, search = "Collections", "collection", "Name of a collection, or what it is for"
    key, descending, ways = "name", False, ("Back", "More")
    sorts = {"name": "name"}

    def rows(self, params: Mapping[str, str]) -> QuerySet[Collection]:
        """Narrowed by `q`."""
        return collections_page(params, person_of(self.request))


class CollectionNew(ConsoleView):
    """Makes a collection."""

    permission = ADD
    template = "registry/collection_new.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The form."""
        return self.show({"form": NewCollectionForm()})

    def post(self, request: HttpRequest) -> HttpResponse:
        """Makes it, or shows what is wrong."""
        form, by = NewCollectionForm(request.POST), person_of(request)

        def make() -> Collection:
            given = dict(form.cleaned_data)
            tools = _tools(given.pop("tools"), by)
            return collection_create(by=by, tools=tools, **given)

        made = form.attempt(make)
        if made is None:
            return self.show({"form": form}, status=422)
        messages.success(request, f"The collection {made.name} is made.")
        return redirect("collection", name=made.name)


@dataclass(frozen=True)
class _Forms:
    members: MembersForm
    described: CollectionForm


class CollectionPage(ConsoleView):
    """One collection: its tools, and who has it."""

    permission = VIEW
    template = "registry/collection_detail.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The page."""
        return self.show_collection(collection_detail(name, person_of(request)))

    def show_collection(
        self,
        collection: Collection,
        members: MembersForm | None = None,
        described: CollectionForm | None = None,
    ) -> HttpResponse:
        """The page; with a form that came back, the form's status."""
        person = person_of(self.request)
        perms = PermsOn(person, collection)
        seen, personas = members_seen(collection, person), holders_seen(collection, person)
        initial = {"description": collection.description}
        came_back: ConsoleForm | None = members or described
        count = seen.count()
        return self.show(
            {
                "collection": collection,
                "perms": perms,
                "sharing": perms.summary(),
                "page": page_read(seen, self.request.GET, key="name", descending=False),
                "count": count,
                "hidden": collection.members.count() - count,
                "personas": list(personas[:PERSONAS_SHOWN]),
                "forms": _Forms(
                    members or MembersForm(collection=collection.name, auto_id="add_%s"),
                    described
                    or CollectionForm(of=COLLECTION.of(collection), initial=initial, auto_id="described_%s"),
                ),
            },
            status=came_back.status if came_back else 200,
        )


class CollectionDescribe(CollectionPage):
    """Changes what a collection is for."""

    permission = CHANGE

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """Back to where the form stands."""
        return redirect("collection", name=name)

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """Changes it, or shows what is wrong."""
        row = collection_detail(name, person_of(request), CHANGE)
        form = CollectionForm(request.POST, of=COLLECTION.of(row), auto_id="described_%s")

        def change() -> bool:
            collection_describe(by=person_of(request), collection=row, **form.cleaned_data)
            return True

        if not form.attempt(change):
            return self.show_collection(row, described=form)
        messages.success(request, f"{name} is described.")
        return redirect("collection", name=name)


class MembersAdd(CollectionPage):
    """Puts tools into a collection."""

    permission = CHANGE

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """Back to where the form stands."""
        return redirect("collection", name=name)

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """Adds them, or shows what is wrong."""
        by = person_of(request)
        row = collection_detail(name, by, CHANGE)
        form = MembersForm(request.POST, collection=name, auto_id="add_%s")

        def add() -> list[Tool]:
            tools = _tools(form.cleaned_data["tools"], by)
            members_change(by=by, collection=row, add=tools)
            return tools

        added = form.attempt(add)
        if added is None:
            return self.show_collection(row, members=form)
        messages.success(request, f"In {name}: {', '.join(tool.name for tool in added[:5])}.")
        return redirect("collection", name=name)


class AddableOptions(ConsoleView):
    """What the picker of tools proposes for what is typed."""

    permission = CHANGE
    template = "components/options.html"

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The options."""
        person = person_of(request)
        row = collection_detail(name, person, CHANGE)
        return self.show({"options": addable(row, request.GET.get("tools", ""), person)})


class MemberRemove(QuestionView):
    """Asks, then takes a tool out of a collection."""

    permission = CHANGE

    def about(self, name: str, tool: str) -> Edited[Any] | None:
        """The collection."""
        return COLLECTION.of(self._member(name, tool)[0])

    def get(self, request: HttpRequest, name: str, tool: str) -> HttpResponse:
        """The question."""
        row, _ = self._member(name, tool)
        touched = [
            _personas_touched(row, person_of(request)),
            "What else assigns the tool to them stays, as do runs and audit.",
        ]
        title = f"Take {tool} out of {name}?"
        return self.ask(Question(title, touched, "Take it out", reverse("collection", args=[name])))

    def post(self, request: HttpRequest, name: str, tool: str) -> HttpResponse:
        """The act."""
        row, found = self._member(name, tool)
        members_change(by=person_of(request), collection=row, remove=[found])
        messages.success(request, f"{tool} is no longer in {name}.")
        return redirect("collection", name=name)

    def _member(self, name: str, tool: str) -> tuple[Collection, Tool]:
        person = person_of(self.request)
        row = collection_detail(name, person, CHANGE)
        found = members_seen(row, person).filter(name=tool).first() if "\0" not in tool else None
        if found is None:
            raise Http404
        return row, found


class CollectionDelete(QuestionView):
    """Asks, then deletes a collection."""

    permission = DELETE

    def about(self, name: str) -> Edited[Any] | None:
        """The collection."""
        return COLLECTION.of(collection_detail(name, person_of(self.request), DELETE))

    def get(self, request: HttpRequest, name: str) -> HttpResponse:
        """The question."""
        row = collection_detail(name, person_of(request), DELETE)
        touched = [
            _personas_touched(row, person_of(request)),
            "Its tools stay, and what else assigns them. Its audit stays.",
        ]
        back = reverse("collection", args=[name])
        return self.ask(Question(f"Delete the collection {name}?", touched, "Delete it", back))

    def post(self, request: HttpRequest, name: str) -> HttpResponse:
        """The act."""
        row = collection_detail(name, person_of(request), DELETE)
        collection_delete(by=person_of(request), collection=row)
        messages.success(request, f"The collection {name} is deleted.")
        return redirect("collections")


def _personas_touched(collection: Collection, by: User) -> str:
    """How many personas lose by it, and the few that the person sees by name."""
    count = collection.assignments.count()
    if not count:
        return "No persona has it."
    names = list(holders_seen(collection, by).values_list("name", flat=True)[:5])
    named = f": {', '.join(names)}{' and others' if len(names) < count else ''}" if names else ""
    return f"{count} persona{'s have' if count > 1 else ' has'} it{named}. Their next call is held to it."
