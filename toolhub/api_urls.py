"""The addresses of the REST API, `/api/v1/`."""

from django.urls import path, re_path

from core.problems import api_not_found
from execution.entry.decisions.api import DecisionSimulate
from execution.entry.dynamic.api import ToolSchema
from execution.entry.operations.api import Execute
from execution.entry.operations.capabilities import Capabilities
from execution.features.approvals.api import (
    ApprovalApprove,
    ApprovalDelegate,
    ApprovalDeny,
    ApprovalDetail,
    Approvals,
)
from execution.features.artefacts.api import RunArtefact, RunArtefacts
from execution.features.callbacks.api import RunRedeliver
from execution.features.retry.api import RetryPolicies
from execution.memory.api import LoopDetail, MemoryItem, MemoryKeys, SessionDetail, Sessions
from execution.memory.api_events import SessionEvents, WebhookDetail, Webhooks
from execution.runs.api import RunCancel, RunDetail, RunEvents, ToolExecute
from execution.runs.api_again import RunCleanup, RunReplay, RunRetry
from execution.runs.api_bulk import RunsCancel
from execution.runs.api_resolve import RunResolve, RunsUnresolved
from registry.api import ToolDetail, ToolList
from registry.api_versions import ToolVersions
from registry.collections.api import CollectionDetail, Collections, CollectionTool
from registry.config.api import PackageConfig, PackageConfigTest
from registry.installations.api import (
    InstallationApprove,
    InstallationCancel,
    InstallationDetail,
    InstallationLog,
    InstallationRetry,
    Installations,
)
from registry.personas.api import PersonaDetail, Personas
from registry.personas.api_rights import AssignmentDetail, Assignments, GrantDetail, Grants
from registry.personas.api_tokens import TokenDetail, TokenRotate, Tokens
from registry.policy.api import Pauses, RestrictionDetail, Restrictions
from registry.policy.api_capabilities import CapabilityCatalogue, CapabilityDetail
from registry.policy.api_limits import LimitDetail, Limits
from registry.policy.api_patterns import OutputPatternDetail, OutputPatterns
from registry.policy.api_tiers import FlagDetail, Flags, TierDetail, Tiers, ToolFlag
from registry.releases.api import (
    PackageCompare,
    PackageDependencies,
    PackageDetail,
    Packages,
    ReleaseActivate,
    ReleaseDeprecate,
    ReleaseDetail,
    ReleasePackage,
    ReleaseQuarantine,
    ReleaseRestore,
    ReleaseYank,
    ToolOverlay,
)
from registry.rules.api import RuleDetail, Rules, RuleTry

urlpatterns = [
    path("capabilities", Capabilities.as_view(), name="api_capabilities"),
    path("execute", Execute.as_view(), name="api_execute"),
    path("decisions/simulate", DecisionSimulate.as_view(), name="api_decisions_simulate"),
    path("tools", ToolList.as_view(), name="api_tools"),
    path("tools/<str:name>", ToolDetail.as_view(), name="api_tool"),
    path("tools/<str:name>/overlay", ToolOverlay.as_view(), name="api_tool_overlay"),
    path("tools/<str:name>/rules", Rules.as_view(), name="api_tool_rules"),
    path("tools/<str:name>/rules/try", RuleTry.as_view(), name="api_tool_rule_try"),
    path("tools/<str:name>/rules/<int:pk>", RuleDetail.as_view(), name="api_tool_rule"),
    path("tools/<str:name>/versions", ToolVersions.as_view(), name="api_tool_versions"),
    path("tools/<str:name>/schema", ToolSchema.as_view(), name="api_tool_schema"),
    path("tools/<str:name>/execute", ToolExecute.as_view(), name="api_tool_execute"),
    path("installations", Installations.as_view(), name="api_installations"),
    path("installations/<uuid:pk>", InstallationDetail.as_view(), name="api_installation"),
    path("installations/<uuid:pk>/log", InstallationLog.as_view(), name="api_installation_log"),
    path("installations/<uuid:pk>/approve", InstallationApprove.as_view(), name="api_installation_approve"),
    path("installations/<uuid:pk>/cancel", InstallationCancel.as_view(), name="api_installation_cancel"),
    path("installations/<uuid:pk>/retry", InstallationRetry.as_view(), name="api_installation_retry"),
    path("memory/<str:scope>", MemoryKeys.as_view(), name="api_memory"),
    path("memory/<str:scope>/<path:key>", MemoryItem.as_view(), name="api_memory_item"),
    path("sessions", Sessions.as_view(), name="api_sessions"),
    path("sessions/<str:session_id>", SessionDetail.as_view(), name="api_session"),
    path("sessions/<str:session_id>/events", SessionEvents.as_view(), name="api_session_events"),
    path("sessions/<str:session_id>/loops/<str:loop_id>", LoopDetail.as_view(), name="api_session_loop"),
    path("webhooks", Webhooks.as_view(), name="api_webhooks"),
    path("webhooks/<int:pk>", WebhookDetail.as_view(), name="api_webhook"),
    path("retry-policies", RetryPolicies.as_view(), name="api_retry_policies"),
    path("packages", Packages.as_view(), name="api_packages"),
    path("packages/<str:name>", PackageDetail.as_view(), name="api_package"),
    path("packages/<str:name>/config", PackageConfig.as_view(), name="api_package_config"),
    path("packages/<str:name>/config/test", PackageConfigTest.as_view(), name="api_package_config_test"),
    path("packages/<str:name>/compare", PackageCompare.as_view(), name="api_package_compare"),
    path("packages/<str:name>/dependencies", PackageDependencies.as_view(), name="api_package_dependencies"),
    path("restrictions", Restrictions.as_view(), name="api_restrictions"),
    path("restrictions/<int:pk>", RestrictionDetail.as_view(), name="api_restriction"),
    path("pauses", Pauses.as_view(), name="api_pauses"),
    path("capabilities/catalogue", CapabilityCatalogue.as_view(), name="api_capability_catalogue"),
    path("capabilities/catalogue/<int:pk>", CapabilityDetail.as_view(), name="api_capability"),
    path("limits", Limits.as_view(), name="api_limits"),
    path("limits/<int:pk>", LimitDetail.as_view(), name="api_limit"),
    path("tiers", Tiers.as_view(), name="api_tiers"),
    path("tiers/<str:name>", TierDetail.as_view(), name="api_tier"),
    path("flags", Flags.as_view(), name="api_flags"),
    path("flags/<str:name>", FlagDetail.as_view(), name="api_flag"),
    path("tools/<str:name>/flag", ToolFlag.as_view(), name="api_tool_flag"),
    path("collections", Collections.as_view(), name="api_collections"),
    path("collections/<str:name>", CollectionDetail.as_view(), name="api_collection"),
    path("collections/<str:name>/tools/<str:tool>", CollectionTool.as_view(), name="api_collection_tool"),
    path("personas", Personas.as_view(), name="api_personas"),
    path("personas/<str:name>", PersonaDetail.as_view(), name="api_persona"),
    path("personas/<str:name>/assignments", Assignments.as_view(), name="api_assignments"),
    path("personas/<str:name>/assignments/<int:pk>", AssignmentDetail.as_view(), name="api_assignment"),
    path("personas/<str:name>/grants", Grants.as_view(), name="api_grants"),
    path("personas/<str:name>/grants/<int:pk>", GrantDetail.as_view(), name="api_grant"),
    path("personas/<str:name>/tokens", Tokens.as_view(), name="api_tokens"),
    path("personas/<str:name>/tokens/<int:pk>", TokenDetail.as_view(), name="api_token"),
    path("personas/<str:name>/tokens/<int:pk>/rotate", TokenRotate.as_view(), name="api_token_rotate"),
    path("output-patterns", OutputPatterns.as_view(), name="api_output_patterns"),
    path("output-patterns/<int:pk>", OutputPatternDetail.as_view(), name="api_output_pattern"),
    path("releases/<int:pk>", ReleaseDetail.as_view(), name="api_release"),
    path("releases/<int:pk>/package", ReleasePackage.as_view(), name="api_release_package"),
    path("releases/<int:pk>/activate", ReleaseActivate.as_view(), name="api_release_activate"),
    path("releases/<int:pk>/deprecate", ReleaseDeprecate.as_view(), name="api_release_deprecate"),
    path("releases/<int:pk>/yank", ReleaseYank.as_view(), name="api_release_yank"),
    path("releases/<int:pk>/quarantine", ReleaseQuarantine.as_view(), name="api_release_quarantine"),
    path("releases/<int:pk>/restore", ReleaseRestore.as_view(), name="api_release_restore"),
    path("approvals", Approvals.as_view(), name="api_approvals"),
    path("approvals/<uuid:pk>", ApprovalDetail.as_view(), name="api_approval"),
    path("approvals/<uuid:pk>/approve", ApprovalApprove.as_view(), name="api_approval_approve"),
    path("approvals/<uuid:pk>/deny", ApprovalDeny.as_view(), name="api_approval_deny"),
    path("approvals/<uuid:pk>/delegate", ApprovalDelegate.as_view(), name="api_approval_delegate"),
    path("runs/cancel", RunsCancel.as_view(), name="api_runs_cancel"),
    path("runs/unresolved", RunsUnresolved.as_view(), name="api_runs_unresolved"),
    path("runs/<uuid:run_id>", RunDetail.as_view(), name="api_run"),
    path("runs/<uuid:run_id>/events", RunEvents.as_view(), name="api_run_events"),
    path("runs/<uuid:run_id>/cancel", RunCancel.as_view(), name="api_run_cancel"),
    path("runs/<uuid:run_id>/retry", RunRetry.as_view(), name="api_run_retry"),
    path("runs/<uuid:run_id>/resolve", RunResolve.as_view(), name="api_run_resolve"),
    path("runs/<uuid:run_id>/replay", RunReplay.as_view(), name="api_run_replay"),
    path("runs/<uuid:run_id>/cleanup", RunCleanup.as_view(), name="api_run_cleanup"),
    path("runs/<uuid:run_id>/artefacts", RunArtefacts.as_view(), name="api_run_artefacts"),
    path("runs/<uuid:run_id>/artefacts/<str:name>", RunArtefact.as_view(), name="api_run_artefact"),
    path("runs/<uuid:run_id>/redeliver", RunRedeliver.as_view(), name="api_run_redeliver"),
    re_path(r"^(?P<rest>.*)$", api_not_found),
]
