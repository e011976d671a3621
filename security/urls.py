"""Addresses of the pages of settings that belong to security."""

from django.urls import path

from security.accounts.views import (
    PeopleList,
    PersonFactor,
    PersonInvite,
    PersonLeave,
    PersonLink,
    PersonMail,
    PersonPage,
    PersonReturn,
)
from security.accounts.views_own import Invitation, OwnPage, OwnSessionEnd, OwnSessionsEnd, OwnTokenRevoke
from security.oidc.views import (
    OwnIdentity,
    OwnIdentityEnd,
    PersonIdentity,
    SignedInElsewhere,
    SignInElsewhere,
    SignInSettings,
)
from security.sharing.views import SharingPage, SharingTake, SharingTeam
from security.sharing.views_teams import TeamDelete, TeamNew, TeamPage, TeamPart, TeamsList
from security.views_patterns import OutputPatternRemove, OutputPatterns
from security.views_proposals import ProposalConfirm, ProposalPage, ProposalRefuse, Proposals
from security.views_sandbox import Sandbox

urlpatterns = [
    path("settings/sandbox/", Sandbox.as_view(), name="sandbox"),
    path("settings/sign-in/", SignInSettings.as_view(), name="sign_in_settings"),
    path("sign-in/provider/", SignInElsewhere.as_view(), name="oidc_begin"),
    path("sign-in/provider/done/", SignedInElsewhere.as_view(), name="oidc_done"),
    path("people/", PeopleList.as_view(), name="people"),
    path("people/invite/", PersonInvite.as_view(), name="person_invite"),
    path("people/<str:name>/", PersonPage.as_view(), name="person"),
    path("people/<str:name>/link/", PersonLink.as_view(), name="person_link"),
    path("people/<str:name>/mail/", PersonMail.as_view(), name="person_mail"),
    path("people/<str:name>/leave/", PersonLeave.as_view(), name="person_leave"),
    path("people/<str:name>/factor/", PersonFactor.as_view(), name="person_factor"),
    path("people/<str:name>/identity/", PersonIdentity.as_view(), name="person_identity"),
    path("people/<str:name>/return/", PersonReturn.as_view(), name="person_return"),
    path("teams/", TeamsList.as_view(), name="teams"),
    path("teams/new/", TeamNew.as_view(), name="team_new"),
    path("teams/<int:row>/", TeamPage.as_view(), name="team"),
    path("teams/<int:row>/delete/", TeamDelete.as_view(), name="team_delete"),
    path("teams/<int:row>/members/<int:person>/", TeamPart.as_view(), name="team_part"),
    path("sharing/<str:kind>/<str:name>/", SharingPage.as_view(), name="sharing"),
    path("sharing/<str:kind>/<str:name>/team/", SharingTeam.as_view(), name="sharing_team"),
    path(
        "sharing/<str:kind>/<str:name>/<str:level>/<str:holder>/<int:pk>/",
        SharingTake.as_view(),
        name="sharing_take",
    ),
    path("invitation/<uidb64>/<token>/", Invitation.as_view(), name="invitation"),
    path("account/", OwnPage.as_view(), name="own"),
    path("account/identity/", OwnIdentity.as_view(), name="own_identity"),
    path("account/identity/end/", OwnIdentityEnd.as_view(), name="own_identity_end"),
    path("account/tokens/<int:row>/revoke/", OwnTokenRevoke.as_view(), name="own_token_revoke"),
    path("account/sessions/end/", OwnSessionsEnd.as_view(), name="own_sessions_end"),
    path("account/sessions/<int:row>/end/", OwnSessionEnd.as_view(), name="own_session_end"),
    path("proposed-changes/", Proposals.as_view(), name="proposals"),
    path("proposed-changes/<int:pk>/", ProposalPage.as_view(), name="proposal"),
    path("proposed-changes/<int:pk>/confirm/", ProposalConfirm.as_view(), name="proposal_confirm"),
    path("proposed-changes/<int:pk>/refuse/", ProposalRefuse.as_view(), name="proposal_refuse"),
    path("settings/filters/", OutputPatterns.as_view(), name="output_patterns"),
    path("settings/filters/<int:row>/remove/", OutputPatternRemove.as_view(), name="output_pattern_remove"),
]
