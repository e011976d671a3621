"""What attacks look like in a path."""

from security.content.families import Family, Scanner
from security.content.signs.templates import TEMPLATES

_AWAY = "Name a file below the folder that the tool works in, without `..`."
_SECRETS = "Do not hand out files with keys or passwords; pass a secret by the vault."

CLIMBS = Family("path_traversal", "high", "The path leaves the folder that it starts in.", _AWAY, ())
FAMILIES = (
    Family(
        "path_traversal",
        "critical",
        "The path hides that it leaves its folder, by encoded or doubled dots or a NUL.",
        _AWAY,
        (
            r"%(?:25)*2e%(?:25)*2e|\.%(?:25)*2e|%(?:25)*2e\.|\.\.%(?:25)*(?:2f|5c)|%c0%a[ef]|%c1%9c|%u002e",
            r"\.{3,}[/\\]{1,}\.{2}|\.\./\./\.\.|\.{4,}[/\\]|\.\.;[/\\]|(?:^|[/\\])\.{3}[/\\]\.{3}[/\\]|\.\.\./\./|\.\./\\|\.\.\\/",
            r"\x00|%(?:25)*00",
            r"%(?:25)*2f\.\.|[/\\]\.\.%|\.\.[\\/][^/]*\.\.%",
        ),
    ),
    Family(
        "privilege_escalation",
        "critical",
        "The path is of a file that decides who may do what on the machine.",
        "Leave the machine's own files to its administrator.",
        (
            r"/etc/(?:sudoers|cron|crontab|pam\.d|ld\.so\.preload|security/|rc\.local|init\.d|systemd/|profile)",
            r"/etc/(?:gshadow|master\.passwd|polkit|doas|selinux|apparmor)",
            r"\bauthorized_keys\b|/var/spool/cron|docker\.sock|containerd\.sock|/proc/(?:sys|sysrq|kcore)",
            r"/dev/(?:sd[a-z]|nvme|mem\b|kmem|hd[a-z]|vd[a-z]|disk/|mapper/|kcore)|^/sys/(?:kernel|fs|class|firmware)",
            r"release_agent|/proc/(?:self|\d+|thread-self)/(?:root|mem|cwd|exe|ns)\b|/lib/systemd/system/|^/boot/|[/\\]system32[/\\]+\w+\.exe",
            r"^(?:/|~)(?:.*/)?\.(?:bashrc|bash_profile|bash_login|profile|zshrc|zprofile|zshenv|xprofile)$|\b(?:site|user)customize\.py$|\.config[/\\](?:autostart|systemd|fish)[/\\]|/lib/modules/|/etc/(?:udev|xdg)/|\.ko$|/s?bin/(?:sudo|su|passwd|login|sshd|mount|pkexec)$|\.git[/\\]hooks[/\\]|library/launch(?:agents|daemons)/|/dev/(?:kmsg|input/|sg\d|loop\d|tcp/|udp/)|[/\\]\.htaccess$|\.user\.ini$",
            r"windows[/\\]+system32[/\\]+(?:config|drivers|tasks)|windows[/\\]+tasks|\\start menu\\programs\\startup",
        ),
    ),
    Family(
        "data_exfiltration",
        "high",
        "The path is of a file that holds keys, passwords or other secrets.",
        _SECRETS,
        (
            r"/etc/(?:passwd|group|shadow|opasswd|krb5\.keytab|hosts\.equiv|mysql/debian|kubernetes|ssl/private|ssh/ssh_host)",
            r"\.ssh(?:[/\\]|$)|\bid_(?:rsa|dsa|ecdsa|ed25519)\b|\.gnupg\b|\.pgpass\b|\.netrc\b|\.git-credentials",
            r"\.aws[/\\]|\.azure[/\\]|\.kube[/\\]|\.docker[/\\]config|gcloud[/\\]|\.vault-token|\.htpasswd|\.my\.cnf",
            r"(?:^|[/\\])\.env(?:\.(?:local|prod|production|staging))?$|\.(?:bash|zsh|mysql|psql|python)_history",
            r"(?:^|[/\\])wp-config\.php|(?:^|[/\\])(?:credentials|secrets?)(?:\.(?:json|ya?ml|toml|ini|xml|txt|db))?$",
            r"/run/secrets|/secrets/kubernetes\.io|\.npmrc$|\.pypirc$|\.config/gh/hosts|service[-_]account\w*\.json$",
            r"/proc/(?:self|\d+|thread-self)/(?:environ|cmdline|maps|fd|status|auxv|task|net)\b|^/proc/(?:kallsyms|keys|modules|net|sched_debug|mounts)|/\.dockerenv|^/var/lib/(?:docker|kubelet)|^/root(?:/|$)|~root\b",
            r"[/\\]ntds\.dit|[/\\](?:win|boot)\.ini\b|[/\\]sam(?:\.bak)?$|[/\\]repair[/\\]|unattend(?:ed)?\.xml",
            r"inetpub[/\\]+.*web\.config|login data$|cookies\.sqlite|key[34]\.db|logins\.json|keychain|\.keystore$|\.kdbx$",
            r"/var/log/(?:auth\.log|secure|btmp|wtmp)|/var/lib/(?:mysql|postgresql)/|master\.key$|\.git/config$",
            r"/etc/(?:networkmanager/system-connections|wireguard|openvpn|wpa_supplicant|ppp/|apt/auth|rancher|openldap|rsyncd)|[/\\][\w-]*\.?secrets$|(?:^|[/\\])(?:g?shadow|sam|ntds)(?:[-~]|\.(?:bak|old|orig|save|backup))$|/\.vnc/passwd|\bk3s\.yaml$|\b(?:kubelet|admin)\.conf$",
            r"(?:^|[/\\._-])(?:secrets?|credentials?|passwords?|passwd|privkey|private[_-]?key|wallet|keystore|api[_-]?keys?)\.(?:json|ya?ml|xml|txt|db|ini|conf|cfg|toml|pem|key|dat|csv|bak|properties|sqlite3?|xlsx?|kdbx?|enc)$|(?:^|[/\\._-])secrets\.\w+\.\w+$",
            r"\.config[/\\](?:signal|slack|discord|telegram\w*|google-chrome|chromium|microsoft-edge|brave\w*)[/\\]|/var/lib/[\w-]+/[\w-]+\.(?:db|sqlite3?)$",
            r"\.password-store|share[/\\]keyrings[/\\]\w+\.keyring|library/keychains|microsoft[/\\](?:protect|credentials)|ntuser\.dat|\.tfstate(?:\.backup)?$|\.terraformrc|\.terraform\.d|(?:web|meta)-inf[/\\]|\.m2[/\\]settings|\.cargo[/\\]credentials|\.gem[/\\]credentials|\.(?:s3cfg|boto|dockercfg|rhosts|viminfo)$|rclone\.conf$|sitemanager\.xml$",
            r"\.(?:p12|pfx|ppk|jks|ovpn)$|(?:private|server|tls|ssl)[^/\\]*\.(?:key|pem)$|\.(?:\w+_)?history$|/var/lib/(?:etcd|vault|jenkins|samba/private|sss|cloud)(?:/|$)|^//(?:\d+\.){3}\d+/|(?:^|[/\\])\.env\.(?:dev\w*|test|ci|stage|live|backup|bak|old)$",
            r"^\\\\[^\\]+\\|^//[^/]+/[^/]*\$|::\$data",
        ),
    ),
    Family(
        "injection",
        "high",
        "The path holds a command for a shell, or an option in place of a name.",
        "Give a path alone; a name that begins with - is written as ./-name.",
        (
            r"\$\(|`|\$\{ifs|\$ifs|&&|\|\||[\r\n]",
            (
                r"[;|&]\s*(?:/?(?:usr/)?s?bin/)?(?:cat|ls|id|rm|sh|bash|nc|ncat|curl|wget|whoami|ping|sleep|echo|chmod|chown"
                r"|touch|python\d?|perl|ruby|uname|env|kill|dir|type|powershell|cmd|net|shutdown|reboot|mv|cp|tee|find"
                r"|dd|nslookup|dig|ps|sudo|cd|awk|sed|head|tail|grep|xargs|calc|printenv|ifconfig|ssh|scp|mkfifo|telnet)\b"
            ),
            r"^\s*\||\|\s*$|;\s*$|>\s*/|<\(|>\(",
            r"^-{1,2}[a-z]",
        ),
    ),
    Family(
        "injection",
        "high",
        "The path is an address that reads or runs something else than a file of the tool.",
        "Give a path, not an address; addresses have fields of their own.",
        (
            (
                r"^\s*(?:file|php|phar|zip|data|expect|gopher|dict|jar|glob|ftp|ssh2|ogg|compress\.\w+|ldaps?|netdoc|view-source"
                r"|smb|tftp|https?|sftp|ext|fd|javascript)\s*:"
            ),
        ),
    ),
    TEMPLATES,
)


def climbs(path: str) -> bool:
    """Whether a relative path gets above its start, or an absolute one turns back by two folders or more."""
    depth, lowest, back = 0, 0, 0
    for part in path.replace("\\", "/").split("/"):
        if part.strip() == "..":
            depth, back = depth - 1, back + 1
            lowest = min(lowest, depth)
        elif part.strip() not in {"", "."}:
            depth += 1
    absolute = path.startswith(("/", "\\")) or path[1:2] == ":"
    return back > 1 if absolute else lowest < 0


SCANNERS = (Scanner(CLIMBS, climbs),)
