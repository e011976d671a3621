"""Settings of the project, all from the environment (see env.py and docs/settings.md)."""

import os
from urllib.parse import urlsplit

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from core.http.allowed import allowed_read
from core.identity import domain_normal
from core.proxies import proxy_read
from security.oidc.options import Options, pair_read
from security.sandbox.folders import folder_read, outside
from toolhub import env
from toolhub_sdk.runtimes.folders import folder_check

ROOT = env.ROOT
VERSION = "0.1.0"

DATA = env.data_folder()
PUBLIC_URL = env.http_url(
    "TOOLHUB_URL", "http://127.0.0.1:8000", "The address under which people reach the hub."
)
HTTPS = PUBLIC_URL.startswith("https://")
DEBUG = env.switch("TOOLHUB_DEBUG", False, "Django's debug pages; never in production.")
STYLE_PAGE = DEBUG | env.switch(
    "TOOLHUB_STYLE_PAGE",
    False,
    "The page /style/ with every component of the pages, for who builds them; on with TOOLHUB_DEBUG, too.",
)
SECRET_KEY = env.secret_key(DATA)
VAULT_KEYS = env.vault_keys(DATA)
ALLOWED_HOSTS = [
    urlsplit(PUBLIC_URL).hostname or "127.0.0.1",
    *env.names(
        "TOOLHUB_ALLOWED_HOSTS", ("127.0.0.1", "localhost", "[::1]"), "Further host names that are answered."
    ),
]
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
PROXIES = env.names(
    "TOOLHUB_PROXIES",
    (),
    "Addresses and networks of the reverse proxies before the hub (10.0.0.5, 10.0.0.0/24), which say who"
    " asks, and whether by https.",
    check=proxy_read,
)
# ProxyMiddleware leaves the header only where a named proxy wrote it, and makes REMOTE_ADDR the caller's.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
ALLAUTH_TRUSTED_PROXY_COUNT = 0

# --- the house -------------------------------------------------------------------------------
INSTALLED_APPS = [
    "toolhub",
    "monitoring",
    "execution",
    "registry",
    "registry.installations",
    "execution.memory",
    "execution.features.artefacts",
    "execution.features.preconditions",
    "execution.rollups",
    "security",
    "security.policy",
    "audit",
    "core",
    "core.outbox",
    "core.duties",
    "core.submissions",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "guardian",
    "django_htmx",
    "csp",
    "rest_framework",
    "drf_spectacular",
]
MIDDLEWARE = [
    "core.proxies.ProxyMiddleware",
    "monitoring.middleware.RequestMetricsMiddleware",
    "core.middleware.RequestIdMiddleware",
    "core.middleware.NulMiddleware",
    "django.middleware.security.SecurityMiddleware",
    # From here on only pages.
    "core.middleware.ApiMiddleware",
    "core.middleware.BodyMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "core.middleware.PrivateMiddleware",
    "core.middleware.VisibleTextMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "security.accounts.sessions.SeenMiddleware",
    "security.guessing.devices.DeviceMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "toolhub.urls"
WSGI_APPLICATION = "toolhub.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "core.context.console",
            ],
            "builtins": [
                "core.templatetags.console",
                "core.templatetags.parts",
                "core.templatetags.sentences",
                "core.templatetags.tables",
            ],
        },
    }
]

# --- what the hub connects to ---------------------------------------------------------------
HTTP_ALLOW = env.names(
    "TOOLHUB_HTTP_ALLOW",
    (),
    "Hosts and networks that the hub may send requests to beside public https, each perhaps with a port: "
    "hooks.example.org, 10.0.0.0/8:8080.",
    check=allowed_read,
)

# --- where packages come from ----------------------------------------------------------------
GIT_CREDENTIALS = env.text(
    "TOOLHUB_GIT_CREDENTIALS",
    "",
    "For private repositories: lines of https://user:password@host, each given to its own host only.",
    secret=True,
    shown="none",
).splitlines()
GIT_SSH_KEY = env.text(
    "TOOLHUB_GIT_SSH_KEY", "", "Private key for repositories by ssh.", secret=True, shown="none"
)
GIT_KNOWN_HOSTS = env.text(
    "TOOLHUB_GIT_KNOWN_HOSTS", "", "Host keys that ssh accepts, as in known_hosts.", secret=True, shown="none"
)
GIT_FILES = env.switch(
    "TOOLHUB_GIT_FILES",
    False,
    "Repositories on this machine (file:///) may be installed, by whom may install.",
)

# --- mail -------------------------------------------------------------------------------------
MAIL_FROM = env.text(
    "TOOLHUB_MAIL_FROM", "", "Sender of the hub's mail, such as ToolHub <hub@example.org>. Empty: no mail."
)
_MAIL = env.mail_server()
EMAIL_HOST, EMAIL_PORT = _MAIL.host, _MAIL.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _MAIL.user, _MAIL.password
EMAIL_USE_TLS, EMAIL_USE_SSL, EMAIL_TIMEOUT = _MAIL.starttls, _MAIL.tls, 15
DEFAULT_FROM_EMAIL = MAIL_FROM or "hub@localhost"

# --- what is asked before a package is published ----------------------------------------------
FOUR_EYES = env.switch(
    "TOOLHUB_FOUR_EYES",
    True,
    "Who brought a package in cannot publish it, as long as somebody else may. The record says what held.",
)
APPROVAL_HOURS = env.integer(
    "TOOLHUB_APPROVAL_HOURS",
    24,
    "Hours after which a call that nobody approved is cancelled.",
    least=1,
    most=720,
)
APPROVAL_WEBHOOK = env.text(
    "TOOLHUB_APPROVAL_WEBHOOK",
    "",
    "Address that is told of each call that waits for approval; as TOOLHUB_HTTP_ALLOW has it.",
)
APPROVAL_WEBHOOK_SECRET = env.webhook_secret(needed=bool(APPROVAL_WEBHOOK))
REVIEW_DAYS = env.integer(
    "TOOLHUB_REVIEW_DAYS",
    14,
    "Days after which an installation that nobody decided on is given up.",
    least=1,
    most=3650,
)

# --- database --------------------------------------------------------------------------------
DATABASES = {
    "default": env.database(
        env.text(
            "TOOLHUB_DATABASE_URL",
            f"sqlite:///{DATA / 'toolhub.sqlite3'}",
            "sqlite:///file, or postgres://user:password@host:port/name.",
            secret=True,
            shown="SQLite in the data folder",
        )
    )
}
DATABASE_IS_SQLITE = "sqlite3" in str(DATABASES["default"]["ENGINE"])
DB_POOL = env.integer(
    "TOOLHUB_DB_POOL", 10, "Connections of one web process (PostgreSQL).", least=1, most=200
)
DATABASE_WAIT_S = env.integer(
    "TOOLHUB_DATABASE_WAIT_S",
    60,
    "Seconds that a process waits at its start for a database that does not answer yet.",
    least=0,
    most=3600,
)
# Only what asks for it is prepared: the execute path's statements. None would forbid even those.
# And nothing is compiled: for statements of milliseconds that takes far longer than they do.
CONNECTION = {"prepare_threshold": 1_000_000_000, "options": "-c jit=off"}
# Workers, the steward and commands keep one connection; web processes make a pool of it (wsgi.py).
DATABASES["default"]["CONN_MAX_AGE"] = None
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
if not DATABASE_IS_SQLITE:
    DATABASES["default"]["OPTIONS"] = {**CONNECTION}
if DATABASE_IS_SQLITE:
    # Tests start real workers, which need a file.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA / "test.sqlite3")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-gb"
USE_I18N = False

# --- people ----------------------------------------------------------------------------------
AUTH_USER_MODEL = "security.User"
AUTHENTICATION_BACKENDS = [
    "allauth.account.auth_backends.AuthenticationBackend",
    "guardian.backends.ObjectPermissionBackend",
]
# Nobody without a name has rights, and guardian's rows stand in tables of our own (security/sharing).
ANONYMOUS_USER_NAME = None
GUARDIAN_MONKEY_PATCH_USER = GUARDIAN_MONKEY_PATCH_GROUP = False
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
ACCOUNT_ADAPTER = "security.signin.ClosedAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
# Names are stored in small letters and compared to the letter (core/identity.py).
ACCOUNT_PRESERVE_USERNAME_CASING = False
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True
# allauth counts in the cache, where counters evict each other, and counts no GET: security/guessing counts.
ACCOUNT_RATE_LIMITS = MFA_RATE_LIMITS = False
ACCOUNT_FORMS = {"change_password": "security.guessing.forms.GuardedPasswordForm"}
MFA_FORMS = {
    "authenticate": "security.guessing.forms.GuardedCodeForm",
    "reauthenticate": "security.guessing.forms.GuardedCodeAgainForm",
}
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_ADAPTER = "security.second_factor.SealedAdapter"
MFA_TOTP_ISSUER = "ToolHub"
# Clocks of telephones may be half a minute off.
MFA_TOTP_TOLERANCE = 1
# Nobody verifies addresses here: admins write them.
MFA_ALLOW_UNVERIFIED_EMAIL = True
PASSWORDS = env.switch(
    "TOOLHUB_PASSWORDS",
    True,
    "People may sign in by passwords of the hub. Off: only who was made at the machine may.",
)
_OIDC = Options(
    issuer=env.issuer(
        "TOOLHUB_OIDC_ISSUER", "OpenID Connect provider at which people sign in: its issuer, to the letter."
    ),
    client_id=env.text("TOOLHUB_OIDC_CLIENT_ID", "", "What the provider knows the hub by.", shown="none"),
    client_secret=env.text(
        "TOOLHUB_OIDC_CLIENT_SECRET",
        "",
        "What the hub proves itself with at the provider; empty: by PKCE alone.",
        secret=True,
        shown="none",
    ),
    label=env.text(
        "TOOLHUB_OIDC_LABEL", "single sign-on", "The provider's name, on the button to sign in with."
    ),
    scopes=tuple(
        env.names(
            "TOOLHUB_OIDC_SCOPES",
            ("openid", "profile", "email"),
            "What is asked for; groups often need one more.",
        )
    ),
    domains=tuple(
        domain_normal(name)
        for name in env.names(
            "TOOLHUB_OIDC_DOMAINS",
            (),
            "Domains that a person's verified e-mail address has to be in, in ASCII (xn--…); none: any.",
            check=domain_normal,
        )
    ),
    groups_claim=env.text(
        "TOOLHUB_OIDC_GROUPS_CLAIM", "groups", "Where the provider says which groups a person is in."
    ),
    roles=tuple(
        pair_read(text)
        for text in env.names(
            "TOOLHUB_OIDC_ROLES",
            (),
            "Roles that groups there give and take at each sign-in: staff=viewer, tool-admins=admin.",
            check=pair_read,
        )
    ),
    join=env.switch(
        "TOOLHUB_OIDC_JOIN",
        False,
        "Who signs in at the provider and is unknown here becomes a person of the hub.",
    ),
    link_email=env.switch(
        "TOOLHUB_OIDC_LINK_EMAIL",
        False,
        "Who signs in at the provider first is taken for the person of the same verified e-mail address.",
    ),
)
OIDC = _OIDC if _OIDC.issuer else None
if OIDC and not OIDC.client_id:
    raise ImproperlyConfigured(
        "TOOLHUB_OIDC_ISSUER needs TOOLHUB_OIDC_CLIENT_ID: what the provider knows the hub by."
    )
if not PASSWORDS and not OIDC:
    raise ImproperlyConfigured(
        "TOOLHUB_PASSWORDS is off: set TOOLHUB_OIDC_ISSUER, so that people can sign in."
    )
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "overview"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
CSRF_FAILURE_VIEW = "core.views_errors.csrf_failure"
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
# With the prefix browsers take them from this host alone, by https alone: no neighbour's page can plant one.
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = (
    ("__Host-session", "__Host-csrf") if HTTPS else ("sessionid", "csrftoken")
)
DEVICE_COOKIE_NAME = "__Host-device" if HTTPS else "device"
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True

# --- the web ---------------------------------------------------------------------------------
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
    }
}
STATIC_URL = "static/"
STATIC_ROOT = DATA / "static"
STATICFILES_DIRS = [ROOT / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = DEBUG
# Requests, arguments included, in bytes.
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_048_576
# Nothing may depend on a cache: what is counted or used once is a row (security/guessing).
CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["security.authentication.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["security.authentication.IsActive", "core.query.KnownQuery"],
    "DEFAULT_PARSER_CLASSES": ["core.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["core.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "core.negotiation.JSONUnlessAsked",
    "EXCEPTION_HANDLER": "core.problems.drf_exception_handler",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "ToolHub",
    "VERSION": VERSION,
    "DESCRIPTION": "Tools for AI agents: find them, call them, prove what was called.",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVERS": [{"url": "/", "description": "The hub that this description comes from."}],
    "POSTPROCESSING_HOOKS": ["core.openapi_finish.openapi_finish"],
}

# --- execution -------------------------------------------------------------------------------
CATALOGUE = "catalogue"
INLINE = env.switch(
    "TOOLHUB_INLINE", True, "Quick tools are carried out in the web process; off sends all to workers."
)
INLINE_MAX_MS = env.integer(
    "TOOLHUB_INLINE_MAX_MS",
    2000,
    "Longest timeout, in ms, of a tool that runs in the web process.",
    least=0,
    most=30_000,
)
QUEUE_MAX = env.integer(
    "TOOLHUB_QUEUE_MAX",
    10_000,
    "Runs that may wait in a queue. A persona may have as many waiting as places are free (alone, half of "
    "them); beyond that its calls are answered 503.",
    least=1,
    most=10_000_000,
)
QUEUE_SHARE = env.integer(
    "TOOLHUB_QUEUE_SHARE",
    100,
    "Runs that each persona may have waiting in a queue even when others fill it.",
    least=1,
    most=1_000_000,
)
QUEUE_DEADLINE_S = env.integer(
    "TOOLHUB_QUEUE_DEADLINE_S",
    86_400,
    "Seconds after which a run that no worker has begun ends as a timeout. A call may ask for less.",
    least=1,
    most=2_000_000,
)
SESSION_RUNS_MAX = env.integer(
    "TOOLHUB_SESSION_RUNS_MAX",
    3,
    "Runs of one agent session that workers carry out at once; 0: any number. A persona's calls that name no "
    "session share one.",
    least=0,
    most=100_000,
)
PERSONA_RUNS_MAX = env.integer(
    "TOOLHUB_PERSONA_RUNS_MAX",
    0,
    "Runs of one persona that workers carry out at once; 0: any number.",
    least=0,
    most=100_000,
)
HUB_RUNS_MAX = env.integer(
    "TOOLHUB_HUB_RUNS_MAX",
    0,
    "Runs that all workers together carry out at once; 0: any number.",
    least=0,
    most=100_000,
)
WAIT_DEFAULT_S = 30
WAIT_MAX_S = 120
LEASE_S = env.integer(
    "TOOLHUB_LEASE_S", 30, "Lease of a run, in seconds; a beat comes every sixth of it.", least=3, most=3600
)
CASCADE_RUNS_MAX = env.integer(
    "TOOLHUB_CASCADE_RUNS_MAX",
    100,
    "Runs that may follow from one by cascades and compensations.",
    least=1,
    most=100_000,
)
SESSION_HOURS = env.integer(
    "TOOLHUB_SESSION_HOURS",
    24,
    "Hours without a write after which an agent's session is over and its memory is gone, but for long-term.",
    least=1,
    most=8_760,
)
MEMORY_KEYS_MAX = env.integer(
    "TOOLHUB_MEMORY_KEYS_MAX",
    1_000,
    "Keys that one scope of memory may hold for a session, or for a persona.",
    least=1,
    most=1_000_000,
)
MEMORY_BYTES_MAX = env.integer(
    "TOOLHUB_MEMORY_BYTES_MAX",
    1_048_576,
    "Bytes that one scope of memory may hold for a session, or for a persona.",
    least=1_024,
    most=1_073_741_824,
)
PAYLOAD_DAYS = env.integer(
    "TOOLHUB_PAYLOAD_DAYS",
    90,
    "Days after which what a run was given and gave is removed; its hashes and audit stay.",
    least=1,
    most=36_500,
)
MESSAGE_DAYS = env.integer(
    "TOOLHUB_MESSAGE_DAYS",
    30,
    "Days after which messages that arrived or failed (mail, webhooks), invitations and notices are removed; "
    "callbacks of runs go with the run's payload.",
    least=4,
    most=36_500,
)
SANDBOX_AS_ROOT = env.switch(
    "TOOLHUB_SANDBOX_AS_ROOT",
    False,
    "A worker that is root runs tools as root too; else each run gets a user of its own, or is refused.",
)
SANDBOX_PROCESS = env.switch(
    "TOOLHUB_SANDBOX_PROCESS",
    False,
    "Reviewed releases may run at the level process, which holds no attack, where no better one is there.",
)
FOLDERS = env.names(
    "TOOLHUB_FOLDERS",
    (),
    "Folders of the workers' machines that tools may be given by name: reports=/srv/reports to read, "
    "drop=/srv/drop:rw to write, too.",
    check=folder_read,
)
CONTAINER_SOCKET = env.text(
    "TOOLHUB_CONTAINER_SOCKET",
    "",
    "The Unix socket of Docker or Podman, for tools that are images; empty: the usual ones.",
)
RUNTIMES = env.names(
    "TOOLHUB_RUNTIMES",
    (),
    "Folders with further runtimes (docs/runtimes.md), such as /srv/runtimes/shout. Their code has all "
    "rights of the hub: only root and the hub's user may write there, and none is in TOOLHUB_DATA.",
    check=lambda text: outside(folder_check(text), DATA),
)
SESSION_FOLDER_BYTES = env.integer(
    "TOOLHUB_SESSION_FOLDER_BYTES",
    256 * 1024 * 1024,
    "Bytes that tools may keep in the folder of one agent's session.",
    least=1024,
    most=1024**4,
)
CGROUP = env.text(
    "TOOLHUB_CGROUP",
    "",
    "A folder of control groups (version 2) that is the workers'; each run gets a group in it. off: none. "
    "Empty: what systemd delegated, if it did.",
)
SANDBOX_CPUS = env.integer(
    "TOOLHUB_SANDBOX_CPUS",
    0,
    "Cores that one run may use at a time, where runs have control groups; 0 for all.",
    least=0,
    most=1024,
)
NPM_REGISTRY = env.text(
    "TOOLHUB_NPM_REGISTRY",
    "",
    "Where Node packages of tools come from, an address of http or https; empty: where npm itself gets them.",
)
START_MAX_S = env.integer(
    "TOOLHUB_START_MAX_S",
    30,
    "Seconds that the start of a tool may take: its packages, its sandbox, the loading of its code. The "
    "tool's own time begins after it.",
    least=1,
    most=600,
)
SANDBOX_WARM = env.integer(
    "TOOLHUB_SANDBOX_WARM",
    2,
    "Python tools that a worker process keeps started in their sandboxes for the next call; 0 for none.",
    least=0,
    most=64,
)
# Above SESSION_RUNS_MAX by default, so that one session cannot take every slot.
WORKERS = env.integer(
    "TOOLHUB_WORKERS",
    min(8, max(4, os.cpu_count() or 1)),
    "Runs that one worker carries out at once.",
    least=1,
    most=512,
    shown="the cores, at least 4 and at most 8",
)
WEB_WORKERS = env.integer(
    "TOOLHUB_WEB_WORKERS",
    1 if DATABASE_IS_SQLITE else 2,
    "Web processes.",
    least=1,
    most=64,
    shown="1 with SQLite, else 2",
)
WEB_THREADS = env.integer("TOOLHUB_WEB_THREADS", 64, "Threads of one web process.", least=1, most=512)
# A waiter holds a thread: enough are left for everybody else.
WAITERS_MAX = min(
    env.integer(
        "TOOLHUB_WAITERS_MAX",
        48,
        "Callers of one web process that may wait for a run; TOOLHUB_DB_POOL threads stay free for others.",
        least=1,
        most=10_000,
    ),
    max(1, WEB_THREADS - DB_POOL),
)

BROKER_URL = env.broker_url(
    "TOOLHUB_BROKER_URL", "embedded://", "embedded:// (a folder, one machine), redis://… or amqp://…."
)
QUEUE_PREFIX = env.text("TOOLHUB_QUEUE_PREFIX", "toolhub.", "Stands before the broker's queue names.")

# --- monitoring ------------------------------------------------------------------------------
METRICS_TOKEN = env.text(
    "TOOLHUB_METRICS_TOKEN",
    "",
    "Bearer token for /metrics; unset: this machine only, and nobody behind a proxy.",
    secret=True,
    shown="unset",
)
LOG_LEVEL = env.choice(
    "TOOLHUB_LOG_LEVEL", "INFO", "How much is logged.", ("DEBUG", "INFO", "WARNING", "ERROR")
)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"request_id": {"()": "core.request_id.RequestIdFilter"}},
    "formatters": {
        "line": {
            "()": "core.log_format.LineFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s [%(request_id)s] %(message)s",
        }
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["request_id"]}
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    # Answered by problems of their own; the request log is the metrics'.
    "loggers": {
        "django.request": {"level": "ERROR"},
        "django.security.DisallowedHost": {"level": "CRITICAL"},
    },
}
