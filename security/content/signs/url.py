"""What attacks look like in an address."""

import ipaddress

from security.content.families import Family, Scanner
from security.content.signs.templates import TEMPLATES
from toolhub_sdk.normal_form import normalised, url_split

_PUBLIC = "Give an https address of a public host that the tool is meant for."
INSIDE = Family(
    "data_exfiltration",
    "high",
    "The address is of a service inside the machine or its network, or hides which host it means.",
    _PUBLIC,
    (),
)
# Services that listen inside and trust who can reach them.
_PORTS_NAMED = (
    "19 21 22 23 25 110 111 135 139 143 389 445 512 873 1099 1433 1521 2049 2181 2375 2376 2379 2380 3306 3389 4444"
    " 5005 5432 5601 5672 5900 5984 6066 6379 6443 7001 7077 8009 8161 8200 8500 9000 9042 9092 9200 9229 9300 9418"
    " 10250 10255 11211 15672 27017 27018 50070 61616"
)
_PORTS = frozenset(map(int, _PORTS_NAMED.split()))
FAMILIES = (
    Family(
        "data_exfiltration",
        "critical",
        "The address is of a cloud's metadata service, which hands out credentials.",
        _PUBLIC,
        (
            (
                r"169\.254\.(?:169\.25[34]|170\.2)|metadata\.google\.internal|metadata\.(?:azure|oraclecloud|packet)|100\.100\.100\.200"
                r"|192\.0\.0\.192|168\.63\.129\.16|//(?:instance-data|rancher-metadata|metadata)(?:\.\w+)?[/:]|metadata\.tencentyun|fd00:ec2|/latest/(?:meta-data|user-data|dynamic|api/token)|/computemetadata/|/opc/v[12]/|/metadata/(?:instance|identity|v1)"
                r"|0xa9\.?0?x?fe|0xa9fea9fe|2852039166|025177524776|0251\.0376|::ffff:a9fe|kubernetes\.default\.svc|\.svc\.cluster\.local"
            ),
        ),
    ),
    Family(
        "injection",
        "high",
        "The address has a scheme that reads files, runs a script or speaks to other services.",
        "Give an address that begins with https://.",
        (
            (
                r"^\s*(?:file|gopher|dict|ldaps?|tftp|jar|netdoc|php|phar|expect|zip|smb|sftp|telnet|rmi|iiop|nntp|imap|smtp|view-source|about"
                r"|chrome|res|mailto:[^?]*\?attach|ogg|glob|data|blob|jav\s*ascript|j\s*a\s*v\s*a\s*s\s*c\s*r\s*i\s*p\s*t|vbscript|livescript|url|unix|ext|compress\.\w+)\s*:"
            ),
            r"(?:=|/)(?:file|gopher|dict|php|phar|expect|jar|ldap|netdoc|javascript):/{0,2}\S|=\s*(?:javascript|vbscript|data:text)[:/]",
        ),
        harmless=(r"^data:image/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=]*$",),
    ),
    Family(
        "path_traversal",
        "high",
        "The address climbs out of the folder that it names.",
        "Give the address without `..`.",
        (
            r"(?:^|[/\\=;])\.\.(?:[/\\;]|$)|%(?:25)*2e%(?:25)*2e|\.%(?:25)*2e[/\\%]|%(?:25)*2e\.[/\\%]|\.\.%(?:25)*(?:2f|5c)|%c0%a[ef]|\.{4,}//|\.\.;/",
            r"%(?:25)*00|=/?(?:etc|proc)/|=c:[\\/]|/etc/passwd|/proc/self|/win\.ini|\.ssh/id_|/etc/shadow",
        ),
    ),
    Family(
        "injection",
        "high",
        "The address carries a script, SQL, a header or a command in its parts.",
        "Encode each value of a query, and send only values of the form that the server names.",
        (
            r"<\s*(?:script|img|svg|iframe|body|object|embed|a\s|input|details)|\bon(?:error|load|click|mouseover|focus|toggle)\s*=|document\.(?:cookie|domain|location)|\balert\(|\beval\(|string\.fromcharcode",
            r"[\r\n]|%(?:25)*0[ad]",
            r"['\")]\s*(?:or|and|\|\||&&)\s*[\s'\"(]*\w+[\s'\")]*(?:=|like|<|>)|\bunion(?:\s|\+|/\*.*\*/)+(?:all(?:\s|\+)+)?select\b|\b(?:sleep|pg_sleep|benchmark|extractvalue|updatexml|load_file)\s*\(|waitfor\s+delay|;\s*(?:drop|delete|insert|update|exec|shutdown|select)\s",
            r"\b(?:or|and)(?:\s|\+)+(\d+)=\d+|'\s*(?:--|#|;)|xp_cmdshell|information_schema|\binto\s+outfile\b|'\s*=\s*'|\border\s+by\s+\d+\s*--",
            r"[;|`]\s*(?:cat|ls|id|rm|sh|bash|nc|curl|wget|whoami|ping|sleep|uname|dir|type|nslookup|echo|net|phpinfo)\b|\$\(|`[^`]+`|\|\|\s*\w+|&&\s*(?:cat|id|ls|whoami|curl|ping|sleep)",
            r"\\r\\n|=\s*(?:phpinfo|system|exec|passthru|shell_exec|assert|eval)\s*\(|#set\s*\(\s*\$|[?&;](?:cmd|exec|command|execute|shell|ping|run)=[^&#]*(?:%20|\+|;|\||/bin/|%7c|%3b)",
            r"\$ne\]|\[\$(?:ne|gt|regex|where|in)\]|%24ne|<!entity|<!doctype|<\?xml|\bxlink:href|<\?php|\*\)\(\w+=|\)\(\|\(|__proto__|constructor\[prototype\]|\(\)\s*\{\s*:;\s*\}|class\.module\.classloader|-d\s*allow_url_include|auto_prepend_file|\?-s\b",
        ),
    ),
    Family(
        "privilege_escalation",
        "medium",
        "The address asks to be somebody with more rights.",
        "Leave it to the server to say who the caller is.",
        (
            r"[?&;](?:\w+[\[_.])?(?:is_?)?(?:admin|superuser|root|staff|debug_?admin|su|sudo)\]?=(?:1|true|yes|on)\b|[?&;](?:\w*[\[_.]|user)?(?:role|roles|user_?type|group|privilege|access|level|scope|as|acl|permission)s?\]?(?:\[\])?=(?:\S*[:,+])?(?:admin|administrator|root|superuser|superadmin|owner|sudo|system|cluster-admin|\*)\b",
            r"[?&;](?:impersonate|sudo|become|run_?as|login_as|masquerade|assume_?role|x-forwarded-user|act_as|switch_user|_switch_user|on_behalf_of)=|action=assumerole|action=(?:attach|put)\w*policy|action=create(?:accesskey|user|loginprofile)",
            r"/(?:actuator/(?:env|heapdump|shutdown|jolokia)|jolokia|manager/html|console/login|wp-admin/(?:user-new|admin-ajax)|phpmyadmin|\.git/|\.svn/|\.aws/|\.ssh/|\.env(?:\.\w+)?(?:$|\?)|id_rsa|wp-config\.php|(?:backup|dump)\.(?:sql|zip|tar\S*)$|solr/admin|druid/|_all_dbs|debug/pprof|server-status|_cluster/settings|script(?:text)?$|v1\.\d+/containers)|[?&;]grant_admin=|[?&;](?:auth|bypass|skip_?auth|no_?auth)=(?:0|false|none|bypass|1|true)\b",
        ),
    ),
    Family(
        "data_exfiltration",
        "high",
        "The address carries data out: secrets in its query, or a host that collects what is sent.",
        "Send no secrets in an address; send results to a host that the organisation runs.",
        (
            r"//(?:[^/?#]*\.)?(?:webhook\.site|requestbin\.\w+|requestcatcher\.com|pipedream\.net|hookbin\.com|interact\.sh|interactsh\.com|oast(?:ify)?\.\w+|burpcollaborator\.net|ngrok(?:-free)?\.(?:io|app|dev)|dnslog\.cn|ceye\.io|beeceptor\.com|transfer\.sh|file\.io|0x0\.st|termbin\.com|pastebin\.com/api|paste\.ee|canarytokens\.com|serveo\.net|loca\.lt|trycloudflare\.com|mockbin\.\w+|postb\.in|smee\.io|ptsv\d?\.com)",
            r"[?&;](?:password|passwd|pwd|secret|client_secret|api_?key|apikey|access_?key|private_?key|aws_\w+|ssn|credit_?card|card(?:_?number)?|cvv|session_?id|sessid|cookies?|jwt|bearer|dump|exfil|stolen|leak|creds|credentials|env|environ|passwords|keys)=[^&#\s]{6,}",
            r"=(?:bearer(?:\s|\+|%20)|ghp_|gho_|github_pat_|sk-[a-z0-9]{8}|sk_live|akia[0-9a-z]{8}|xox[bpas]-|eyj[a-z0-9_-]{10,}\.|-----begin|glpat-|aiza)|[?&/](?:d|data|q|x|c|p|b64|payload|content|log|m|msg|text|info|f|file)=[a-z0-9+/_=-]{80,}",
            r"//[a-z0-9+/=_-]{40,}\.[^/]+/|//(?:[a-z0-9]{20,}\.){2,}|/(?:exfil|steal|stealer|collect_secrets|loot|grabber)\b|//[^/]*(?:exfil|attacker|evil|malicious|c2\.)[^/]*/?\S*[?&]\w+=",
            r"//[^/?#]*(?:\$\{|\$\(|\{\{|`)|^\s*[a-z+]+://[^/?#@]*:[^/?#@]*@|[#\\\\]@|[?&;]\w+=//|pastebin\.com/raw",
        ),
    ),
    TEMPLATES,
)

_SCHEMES = frozenset({"http", "https", "", "ws", "wss", "ftp"})
# Names that lead to loopback wherever they are looked up, and those that exist inside only.
_LOOPED = (".localhost", ".nip.io", ".xip.io", ".sslip.io", "localtest.me", "lvh.me")
_INSIDE = (
    *_LOOPED,
    *(".internal", ".corp", ".intranet", ".local", ".lan", ".home", ".localdomain", ".home.arpa"),
    *(".consul", ".svc", ".onion"),
)
_INNER_LABELS = frozenset({"internal", "intranet", "corp"})
# IPv6 that only wraps an address of IPv4 (RFC 6052, RFC 3056).
_NAT64, _6TO4 = ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("2002::/16")
# Set aside for documentation (RFC 5737, RFC 3849): nobody is there.
_EXAMPLES = tuple(
    map(ipaddress.ip_network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"))
)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return None
    if found in _NAT64:
        return ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
    if found in _6TO4:
        return ipaddress.IPv4Address((int(found) >> 80) & 0xFFFFFFFF)
    return getattr(found, "ipv4_mapped", None) or found


def is_inside(url: str) -> bool:
    """Whether the host is an inner address (but for loopback at a port for pages), odd, or after an `@`."""
    try:
        parts = url_split(url.strip().replace("\\", "/"))
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return url.strip().lower().startswith("http")
    if parts.scheme.lower() not in _SCHEMES or not host:
        return False
    if "." in parts.netloc.rpartition("@")[0] or _is_odd(host):
        return True
    found = _address(host)
    if host == "localhost" or (found and (found.is_loopback or found.is_unspecified)):
        plain = host in {"localhost", "127.0.0.1", "::1"}
        return not plain or port in _PORTS or parts.scheme == "ftp"
    inner = found and not found.is_global and not any(found in net for net in _EXAMPLES)
    is_named = not _INNER_LABELS.isdisjoint(host.split("."))
    is_alone = found is None and "." not in host and host != "localhost"
    return bool(inner) or is_alone or is_named or host.endswith(_INSIDE)


def _is_odd(host: str) -> bool:
    """Numbers that are decimal, octal or hexadecimal, too few for an address, or signs that only look like it."""
    if not host.isascii() and normalised("NFKC", host) != host:
        return True
    numbers = host.split(".")
    if not all(part.isdigit() or part.startswith("0x") for part in numbers):
        return False
    return len(numbers) != 4 or any(part != "0" and part.startswith("0") for part in numbers)


SCANNERS = (Scanner(INSIDE, is_inside),)
