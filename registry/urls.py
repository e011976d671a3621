"""Addresses of the pages of tools, packages, installations and personas."""

from django.urls import path

from registry.collections.views import (
    AddableOptions,
    CollectionDelete,
    CollectionDescribe,
    CollectionNew,
    CollectionPage,
    CollectionsList,
    MemberRemove,
    MembersAdd,
)
from registry.config.views import PackageConfig
from registry.config.views_secrets import CredentialRemove, Secrets
from registry.config.views_tests import CredentialTest, PackageConfigTest
from registry.installations.views import (
    InstallationCancel,
    InstallationPage,
    InstallationRetry,
    InstallationsList,
    InstallationZip,
    InstallPage,
)
from registry.personas.views_assignments import AssignableOptions, AssignmentDelete, AssignmentNew
from registry.personas.views_grants import GrantEdit, GrantNew, GrantRevoke
from registry.personas.views_list import PersonaNew, PersonasList
from registry.personas.views_page import PersonaPage
from registry.personas.views_signing import SigningSecretNew
from registry.personas.views_switch import PersonaSwitch
from registry.personas.views_tokens import TokenNew, TokenRevoke, TokenRotate
from registry.policy.views import PauseNew, PolicyList, RestrictionLift, RestrictionNew, StandingChange
from registry.policy.views_capabilities import CapabilitiesList, CapabilityOptions, CapabilityPage
from registry.policy.views_flags import FlagDelete, FlagNew, FlagPage, FlagsList, FlagTools
from registry.policy.views_limits import LimitDelete, LimitEdit, LimitNew, LimitsList
from registry.policy.views_matrix import Matrix
from registry.policy.views_tiers import TierDelete, TierNew, TierPage, TiersList
from registry.releases.views import (
    PackagePage,
    PackagesList,
    PackageUninstall,
    ReleaseActivate,
    ReleaseCompare,
    ReleaseDeprecate,
    ReleaseQuarantine,
    ReleaseRestore,
    ReleaseYank,
    ReleaseZip,
)
from registry.releases.views_overlay import ToolEdit
from registry.rules.views import ToolRuleRemove, ToolRules
from registry.views import ToolPage, ToolsList

urlpatterns = [
    path("tools/", ToolsList.as_view(), name="tools"),
    path("tools/<str:name>/", ToolPage.as_view(), name="tool"),
    path("tools/<str:name>/rules/", ToolRules.as_view(), name="tool_rules"),
    path("tools/<str:name>/rules/<int:row>/remove/", ToolRuleRemove.as_view(), name="tool_rule_remove"),
    path("tools/<str:name>/edit/", ToolEdit.as_view(), name="tool_edit"),
    path("collections/", CollectionsList.as_view(), name="collections"),
    path("collections/new/", CollectionNew.as_view(), name="collection_new"),
    path("collections/<slug:name>/", CollectionPage.as_view(), name="collection"),
    path("collections/<slug:name>/describe/", CollectionDescribe.as_view(), name="collection_describe"),
    path("collections/<slug:name>/addable/", AddableOptions.as_view(), name="collection_addable"),
    path("collections/<slug:name>/tools/", MembersAdd.as_view(), name="members_add"),
    path("collections/<slug:name>/tools/<str:tool>/remove/", MemberRemove.as_view(), name="member_remove"),
    path("collections/<slug:name>/delete/", CollectionDelete.as_view(), name="collection_delete"),
    path("install/", InstallPage.as_view(), name="install"),
    path("installations/", InstallationsList.as_view(), name="installations"),
    path("installations/<uuid:pk>/", InstallationPage.as_view(), name="installation"),
    path("installations/<uuid:pk>/cancel/", InstallationCancel.as_view(), name="installation_cancel"),
    path("installations/<uuid:pk>/zip/", InstallationZip.as_view(), name="installation_zip"),
    path("installations/<uuid:pk>/retry/", InstallationRetry.as_view(), name="installation_retry"),
    path("packages/", PackagesList.as_view(), name="packages"),
    path("packages/<slug:name>/", PackagePage.as_view(), name="package"),
    path("packages/<slug:name>/config/", PackageConfig.as_view(), name="package_config"),
    path("packages/<slug:name>/config/test/", PackageConfigTest.as_view(), name="package_config_test"),
    path("packages/<slug:name>/compare/", ReleaseCompare.as_view(), name="release_compare"),
    path("packages/<slug:name>/uninstall/", PackageUninstall.as_view(), name="package_uninstall"),
    path("packages/<slug:name>/<str:version>/zip/", ReleaseZip.as_view(), name="release_zip"),
    path("packages/<slug:name>/<str:version>/activate/", ReleaseActivate.as_view(), name="release_activate"),
    path(
        "packages/<slug:name>/<str:version>/deprecate/", ReleaseDeprecate.as_view(), name="release_deprecate"
    ),
    path("packages/<slug:name>/<str:version>/yank/", ReleaseYank.as_view(), name="release_yank"),
    path(
        "packages/<slug:name>/<str:version>/quarantine/",
        ReleaseQuarantine.as_view(),
        name="release_quarantine",
    ),
    path("packages/<slug:name>/<str:version>/restore/", ReleaseRestore.as_view(), name="release_restore"),
    path("settings/secrets/", Secrets.as_view(), name="secrets"),
    path("settings/secrets/<int:row>/test/", CredentialTest.as_view(), name="credential_test"),
    path("settings/secrets/<int:row>/remove/", CredentialRemove.as_view(), name="credential_remove"),
    path("personas/", PersonasList.as_view(), name="personas"),
    path("personas/new/", PersonaNew.as_view(), name="persona_new"),
    path("personas/<slug:name>/", PersonaPage.as_view(), name="persona"),
    path("personas/<slug:name>/switch/", PersonaSwitch.as_view(), name="persona_switch"),
    path("personas/<slug:name>/assignable/", AssignableOptions.as_view(), name="persona_assignable"),
    path("personas/<slug:name>/assignments/", AssignmentNew.as_view(), name="assignment_new"),
    path(
        "personas/<slug:name>/assignments/<int:row>/remove/",
        AssignmentDelete.as_view(),
        name="assignment_delete",
    ),
    path("personas/<slug:name>/grants/", GrantNew.as_view(), name="grant_new"),
    path("personas/<slug:name>/grants/<int:row>/", GrantEdit.as_view(), name="grant_edit"),
    path("personas/<slug:name>/grants/<int:row>/revoke/", GrantRevoke.as_view(), name="grant_revoke"),
    path("personas/<slug:name>/signing/", SigningSecretNew.as_view(), name="signing_secret_new"),
    path("personas/<slug:name>/standing/", StandingChange.as_view(), name="standing_change"),
    path("policy/", PolicyList.as_view(), name="policy"),
    path("policy/new/", RestrictionNew.as_view(), name="restriction_new"),
    path("policy/pause/", PauseNew.as_view(), name="pause_new"),
    path("policy/tiers/", TiersList.as_view(), name="tiers"),
    path("policy/tiers/new/", TierNew.as_view(), name="tier_new"),
    path("policy/tiers/<slug:name>/", TierPage.as_view(), name="tier"),
    path("policy/tiers/<slug:name>/delete/", TierDelete.as_view(), name="tier_delete"),
    path("policy/flags/", FlagsList.as_view(), name="flags"),
    path("policy/flags/new/", FlagNew.as_view(), name="flag_new"),
    path("policy/flags/<slug:name>/", FlagPage.as_view(), name="flag"),
    path("policy/flags/<slug:name>/tools/", FlagTools.as_view(), name="flag_tools"),
    path("policy/flags/<slug:name>/delete/", FlagDelete.as_view(), name="flag_delete"),
    path("policy/limits/", LimitsList.as_view(), name="limits"),
    path("policy/limits/new/", LimitNew.as_view(), name="limit_new"),
    path("policy/limits/<int:row>/edit/", LimitEdit.as_view(), name="limit_edit"),
    path("policy/limits/<int:row>/delete/", LimitDelete.as_view(), name="limit_delete"),
    path("policy/capabilities/", CapabilitiesList.as_view(), name="capabilities"),
    path("policy/capabilities/options/", CapabilityOptions.as_view(), name="capability_options"),
    path("policy/capabilities/<int:row>/", CapabilityPage.as_view(), name="capability"),
    path("policy/matrix/", Matrix.as_view(), name="matrix"),
    path("policy/<int:row>/lift/", RestrictionLift.as_view(), name="restriction_lift"),
    path("personas/<slug:name>/tokens/", TokenNew.as_view(), name="token_new"),
    path("personas/<slug:name>/tokens/<int:row>/rotate/", TokenRotate.as_view(), name="token_rotate"),
    path("personas/<slug:name>/tokens/<int:row>/revoke/", TokenRevoke.as_view(), name="token_revoke"),
]
