"""The kinds of events about people, personas and what they may do."""

from dataclasses import dataclass

from audit.event_kinds import HUB, TOOL
from audit.kinds import EventKind, Family, Subject, event_kind

ACCESS = Family("access", "Personas and access")
PEOPLE = Family("people", "People and teams")
POLICY = Family("policy", "Limits and safeguards")
SECRETS = Family("secrets", "Secrets and keys")
SHARING = Family("sharing", "Ownership and sharing")

CAPABILITY = Subject("capability")
FLAG = Subject("flag")
PACKAGE = Subject("package")
PERSON = Subject("person", ("person",))
PERSONA = Subject("persona", ("persona",))
SECRET = Subject("secret")
TEAM = Subject("team")
TIER = Subject("tier")

# The end of a sentence about a safeguard that was loosened under the two-person rule.
CONFIRMED = "[, confirmed by {confirmed_by}]"
_WHOSE = "[ of the persona {persona}][ to the tool {tool}][ that need {capability}]"
_ON_WHOM = "[ for the persona {persona}][ for each persona of the tier {tier}][ on the tool {tool}]"

PERSONA_CREATED = event_kind(ACCESS, "persona.created", PERSONA, "Created the persona {persona}")
PERSONA_DESCRIBED = event_kind(
    ACCESS, "persona.described", PERSONA, "Changed the title or description of the persona {persona}"
)
PERSONA_SWITCHED_ON = event_kind(
    ACCESS, "persona.switched_on", PERSONA, "Enabled the persona {persona}" + CONFIRMED
)
PERSONA_SWITCHED_OFF = event_kind(
    ACCESS, "persona.switched_off", PERSONA, "Disabled the persona {persona}" + CONFIRMED
)
PERSONA_ISOLATION_SET = event_kind(
    ACCESS,
    "persona.isolation_set",
    PERSONA,
    "Set the minimum isolation of the persona {persona} to {isolation|tool default}" + CONFIRMED,
)
PERSONA_TIER_SET = event_kind(
    ACCESS, "persona.tier_set", PERSONA, "Set the tier of the persona {persona} to {tier|none}" + CONFIRMED
)
GRANT_CREATED = event_kind(
    ACCESS,
    "grant.created",
    PERSONA,
    "Granted {capability} to the persona {persona}[ until {expires_at:time}][: {reason}]" + CONFIRMED,
)
GRANT_CHANGED = event_kind(
    ACCESS,
    "grant.changed",
    PERSONA,
    "Changed the grant of {capability} to the persona {persona}" + CONFIRMED,
)
GRANT_REVOKED = event_kind(
    ACCESS,
    "grant.revoked",
    PERSONA,
    "Revoked {capability} from the persona {persona}[ in the session {session}]",
)
TOKEN_CREATED = event_kind(
    ACCESS,
    "token.created",
    PERSONA,
    "Created the token {name} ({token}…) for the persona {persona}, valid until {expires_at:time}",
)
TOKEN_ROTATED = event_kind(
    ACCESS,
    "token.rotated",
    PERSONA,
    "Replaced the token {old}… of the persona {persona} with {token}…, valid until {expires_at:time}",
)
TOKEN_REVOKED = event_kind(
    ACCESS,
    "token.revoked",
    PERSONA,
    "Revoked the token {token}… of the persona {persona}[, which was made with {made_with}…]",
)
TOKEN_HANDED_OVER = event_kind(
    ACCESS,
    "token.handed_over",
    PERSONA,
    "Handed the token {token}… of the persona {persona} over to {to}",
)
SIGNING_SECRET_CREATED = event_kind(
    ACCESS,
    "signing_secret.created",
    PERSONA,
    "Created a signing secret for the persona {persona}{replaced?, in place of the one before:}",
)
CAPABILITY_DESCRIBED = event_kind(
    ACCESS, "capability.described", CAPABILITY, "Described the capability {capability}, with the risk {risk}"
)

RESTRICTION_CREATED = event_kind(
    POLICY,
    "restriction.created",
    (PERSONA, TOOL, HUB),
    f"Blocked calls{_WHOSE}[ until {{expires_at:time}}]: {{reason}}",
)
RESTRICTION_LIFTED = event_kind(
    POLICY,
    "restriction.lifted",
    (PERSONA, TOOL, HUB),
    f"Lifted the restriction on calls{_WHOSE}: {{reason}}{CONFIRMED}",
)
PAUSE_BEGUN = event_kind(
    POLICY,
    "pause.begun",
    (PERSONA, TOOL, HUB),
    f"Paused calls{_WHOSE}[ until {{expires_at:time}}]: {{reason}}",
)
PAUSE_ENDED = event_kind(
    POLICY, "pause.ended", (PERSONA, TOOL, HUB), f"Ended the pause of calls{_WHOSE}: {{reason}}{CONFIRMED}"
)
LIMIT_CREATED = event_kind(
    POLICY,
    "limit.created",
    (PERSONA, TIER, TOOL),
    f"Added a limit of {{amount}} {{measure}} in {{window_s:s}}{_ON_WHOM}",
)
LIMIT_CHANGED = event_kind(
    POLICY,
    "limit.changed",
    (PERSONA, TIER, TOOL),
    f"Changed a limit to {{amount}} {{measure}} in {{window_s:s}}{_ON_WHOM}[; before: {{before}}]{CONFIRMED}",
)
LIMIT_DELETED = event_kind(
    POLICY,
    "limit.deleted",
    (PERSONA, TIER, TOOL),
    f"Deleted the limit of {{amount}} {{measure}} in {{window_s:s}}{_ON_WHOM}{CONFIRMED}",
)
TIER_CREATED = event_kind(POLICY, "tier.created", TIER, "Created the tier {tier}")
TIER_CHANGED = event_kind(
    POLICY,
    "tier.changed",
    TIER,
    "Changed the tier {tier}[; capabilities: {capabilities}][; flags: {flags}]" + CONFIRMED,
)
TIER_DELETED = event_kind(POLICY, "tier.deleted", TIER, "Deleted the tier {tier}")
FLAG_CREATED = event_kind(POLICY, "flag.created", FLAG, "Created the flag {flag}, set to {state}")
FLAG_SWITCHED = event_kind(POLICY, "flag.switched", FLAG, "Set the flag {flag} to {state}" + CONFIRMED)
FLAG_DELETED = event_kind(POLICY, "flag.deleted", FLAG, "Deleted the flag {flag}")
TOOL_FLAG_SET = event_kind(
    POLICY, "tool.flag_set", TOOL, "Set the flag that the tool {about} requires to {flag|none}" + CONFIRMED
)
OUTPUT_PATTERN_ADDED = event_kind(
    POLICY, "output_pattern.added", HUB, "Added the output pattern {name}: {pattern}"
)
OUTPUT_PATTERN_REMOVED = event_kind(
    POLICY, "output_pattern.removed", HUB, "Removed the output pattern {name}: {pattern}" + CONFIRMED
)
FOUR_EYES_SWITCHED_ON = event_kind(POLICY, "four_eyes.switched_on", HUB, "Enabled the two-person rule")
FOUR_EYES_SWITCHED_OFF = event_kind(
    POLICY, "four_eyes.switched_off", HUB, "Disabled the two-person rule" + CONFIRMED
)
_SAFEGUARDED = (PERSONA, TIER, FLAG, TOOL, PACKAGE, HUB)
CHANGE_PROPOSED = event_kind(
    POLICY, "safeguard.change_proposed", _SAFEGUARDED, "Proposed to loosen a safeguard: {changes}"
)
CHANGE_CONFIRMED = event_kind(
    POLICY,
    "safeguard.change_confirmed",
    _SAFEGUARDED,
    "Confirmed the change that {proposed_by} proposed: {changes}",
)
CHANGE_REFUSED = event_kind(
    POLICY,
    "safeguard.change_refused",
    _SAFEGUARDED,
    "Refused the change that {proposed_by} proposed: {changes}",
)
CHANGE_WITHDRAWN = event_kind(
    POLICY, "safeguard.change_withdrawn", _SAFEGUARDED, "Withdrew their proposed change: {changes}"
)

PERSON_INVITED = event_kind(PEOPLE, "person.invited", PERSON, "Invited {person}[ with the roles {roles}]")
PERSON_LINK_MADE = event_kind(PEOPLE, "person.link_made", PERSON, "Made an invitation link for {person}")
PERSON_LINK_MAILED = event_kind(
    PEOPLE, "person.link_mailed", PERSON, "Sent {person} an invitation link by e-mail"
)
PERSON_JOINED = event_kind(
    PEOPLE, "person.joined", PERSON, "Added {person} at their first sign-in through the provider"
)
PERSON_ROLES_SET = event_kind(
    PEOPLE,
    "person.roles_set",
    PERSON,
    "Changed the roles of {person} from {before|none} to {after|none}",
)
PERSON_LEFT = event_kind(
    PEOPLE,
    "person.left",
    PERSON,
    "Ended the access of {person}[; {handed_to} took over what they answered for]",
)
PERSON_RETURNED = event_kind(PEOPLE, "person.returned", PERSON, "Let {person} sign in again")
PERSON_SIGNED_IN = event_kind(PEOPLE, "person.signed_in", PERSON, "Signed in[ with {how}][ from {address}]")
PERSON_SIGN_IN_REFUSED = event_kind(
    PEOPLE, "person.sign_in_refused", PERSON, "Refused the sign-in of {name} from {provider}: {reason}"
)
PERSON_SESSIONS_ENDED = event_kind(
    PEOPLE, "person.sessions_ended", PERSON, "Ended sessions of {person}: {what}"
)
PERSON_PASSWORD_CHOSEN = event_kind(
    PEOPLE, "person.password_chosen", PERSON, "Chose a password by an invitation link"
)
PERSON_PASSWORD_CHANGED = event_kind(PEOPLE, "person.password_changed", PERSON, "Changed their password")
PERSON_IDENTITY_LINKED = event_kind(
    PEOPLE, "person.identity_linked", PERSON, "Linked {person} to {subject} at {provider}"
)
PERSON_IDENTITY_UNLINKED = event_kind(
    PEOPLE, "person.identity_unlinked", PERSON, "Unlinked {person} from the sign-in provider"
)
SECOND_FACTOR_ADDED = event_kind(
    PEOPLE, "person.second_factor_added", PERSON, "Added a second factor[, {type}]"
)
SECOND_FACTOR_REMOVED = event_kind(
    PEOPLE, "person.second_factor_removed", PERSON, "Removed the second factor of {person}[, {type}]"
)
SECOND_FACTOR_RESET = event_kind(
    PEOPLE, "person.second_factor_reset", PERSON, "Replaced their second factor[, {type}]"
)
TEAM_CREATED = event_kind(PEOPLE, "team.created", TEAM, "Created the team {team}")
TEAM_JOINED = event_kind(PEOPLE, "team.joined", TEAM, "Added {person} to the team {team}")
TEAM_PARTED = event_kind(PEOPLE, "team.parted", TEAM, "Removed {person} from the team {team}")
TEAM_DELETED = event_kind(PEOPLE, "team.deleted", TEAM, "Deleted the team {team}")

SECRET_SET = event_kind(
    SECRETS, "secret.set", SECRET, "Set the secret {name} of {about}{replaced?, in place of the one before:}"
)
SECRET_REMOVED = event_kind(SECRETS, "secret.removed", SECRET, "Removed the secret {name} of {about}")
SECRET_TESTED = event_kind(SECRETS, "secret.tested", SECRET, "Tested secrets of {about}: {result}")
VAULT_ROTATED = event_kind(
    SECRETS,
    "vault.rotated",
    HUB,
    "Sealed {sealed} secrets with the newest key[; {unread} could not be opened]",
)
KEYS_ADOPTED = event_kind(
    SECRETS, "keys.adopted", HUB, "Recorded the keys of the running process as the hub's"
)


@dataclass(frozen=True, slots=True)
class SharingKinds:
    """The kinds of events of a thing that teams own and people share."""

    team_set: EventKind
    right_given: EventKind
    right_taken: EventKind


def sharing_kinds(about: Subject) -> SharingKinds:
    """Declare them; called by the app that the thing belongs to."""
    thing = f"the {about.name} {{{about.name}}}"
    whom = "[ {person}][ the team {team}]"
    return SharingKinds(
        event_kind(
            SHARING,
            f"{about.name}.team_set",
            about,
            f"Moved {thing} from {{before|no team}} to {{after|no team}}",
        ),
        event_kind(
            SHARING, f"{about.name}.right_given", about, f"Gave{whom} the right to {{right}} on {thing}"
        ),
        event_kind(
            SHARING, f"{about.name}.right_taken", about, f"Took from{whom} the right to {{right}} on {thing}"
        ),
    )


PERSONA_SHARING = sharing_kinds(PERSONA)
