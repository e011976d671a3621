"""What attacks look like in a command line."""

from security.content.families import Family
from security.content.signs.templates import TEMPLATES

_TOOLS = r"(?:/?(?:usr/)?(?:local/)?s?bin/)?"
# Where a command begins: the line, after a separator, in a substitution.
_START = rf"(?:^|[;&|(`\n{{]|\b(?:then|do|else|exec|xargs|env|nohup|time)\s)\s*{_TOOLS}"
_SHELL = rf"{_TOOLS}(?:ba|z|k|da|c|tc|fi)?sh\b"
_INTERPRETER = rf"(?:{_SHELL}|{_TOOLS}(?:python[\d.]*|perl|ruby|node|php)\b)"
_SECRET_FILE = (
    r"(?:/etc/(?:shadow|gshadow|passwd|sudoers|ssl/private|krb5\.keytab|kubernetes)|\.ssh/|\bid_(?:rsa|dsa|ecdsa|ed25519)\b"
    r"|known_hosts|(?:^|\s)/root\b|\.aws/|\.kube/config|\.docker/config|\.netrc|\.pgpass|\.git-credentials|\.gnupg|\.vault-token"
    r"|(?:^|[\s/@=\"'])\.env(?:$|[\s\"';|)])|/run/secrets|secrets/kubernetes\.io|/proc/(?:self|\d+)/(?:environ|mem|maps)"
    r"|_history\b|\.config/gcloud|credentials\.json|/var/lib/(?:mysql|postgresql)|/etc/master\.passwd)"
)
FAMILIES = (
    Family(
        "injection",
        "critical",
        "The command fetches or decodes a program and runs it at once.",
        "Run only what is installed and reviewed; fetch and run in separate, checked steps.",
        (
            rf"\b(?:curl|wget|fetch|lwp-download|aria2c|GET)\b[^\n]*\|\s*(?:sudo\s+(?:-\w+\s+)*)?{_INTERPRETER}",
            rf"{_INTERPRETER}\s+(?:-c\s+)?[\"']?(?:<\(|\$\(|`)\s*(?:curl|wget|base64|echo|printf|cat)",
            r"(?:^|[;&|\s])(?:eval|source|\.)\s+[\"']?(?:<\(|\$\(|`)\s*(?:curl|wget|base64|echo|printf)",
            rf"\b(?:base64|base32|openssl|xxd|uudecode|gunzip|rev|tr)\b[^|\n]*\|\s*(?:sudo\s+)?{_INTERPRETER}",
            r"\b(?:curl|wget)\b[^\n]*[;&]\s*(?:sudo\s+)?(?:chmod\s+\S*[x7]|(?:ba|z)?sh\s|python|perl|\./)",
            r"\bpowershell[^\n]*(?:-e(?:nc|ncodedcommand)?\s|iex|invoke-expression|downloadstring|-w\w*\s+hidden|bypass)",
            (
                r"\b(?:iex|invoke-expression)\s*\(|\bcertutil\b[^\n]*-urlcache|\bbitsadmin\b|\bmshta\b|\bregsvr32\b[^\n]*/i:"
                r"|rundll32[^\n]*javascript"
            ),
            r"\becho\s+\S+\s*\|\s*(?:base64|xxd)\s+-\w*[dr]\w*\b",
            r"\b(?:crontab)\s+-\s*$|>>?\s*/etc/cron|\|\s*crontab\b|\bcrontab\s+-r\b",
            rf"\b(?:watch|flock|busybox|ionice|stdbuf|taskset|setarch|rlwrap|logsave|cpulimit|chrt|expect|start-stop-daemon|xargs)\b[^\n|;&]*\s['\"]?{_SHELL}(?:\s+-[cip]\b|['\"]?\s*$)",
            r"\b(?:mysql|mariadb|psql|sqlite3|mongo(?:sh)?|redis-cli|sqlcmd)\b[^\n]*(?:\\+!|\b(?:from|to)\s+program\b|\.(?:shell|system)\b|config\s+set\s+dir|xp_cmdshell|sys_exec|slaveof|\bmodule\s+load)",
            r"\b(?:npx|bunx|uvx|deno\s+run|go\s+run|pipx\s+run)\s[^\n]*https?://|-wrapper\s|&\s*\w+\.exe\b|%comspec%",
            r"\bxmrig|\bminerd\b|stratum\+|\bcpuminer|cryptonight|\bosascript\b[^\n]*do\s+shell\s+script|\bstart-process\b|\\\\(?:\d+\.){3}\d+\\|\bnet\s+use\b",
            r"\s(?:-z|-x|-f|--(?:script|exec|preload|init-file|rcfile|plugin|load|require|config))[= ]\S*/(?:tmp|dev/shm)/\S",
            r"\bfind\b[^\n]*-exec\s+(?:/bin/)?(?:ba)?sh\b|\bawk\b[^\n]*system\(|\bxargs\b[^\n]*\b(?:ba)?sh\s+-c",
            r"\b(?:npm|yarn|pnpm|pip[\d.]*|gem)\s[^\n]*\bhttp://|--(?:extra-)?index-url[= ]http:|\bmsiexec\b[^\n]*https?://|\bcscript\b[^\n]*//|\bcmstp\b|\binstallutil\b|\bhh(?:\.exe)?\s+http",
            r"\bwmic\b[^\n]*\bcall\s+create|\bschtasks\b[^\n]*/create|\bforfiles\b[^\n]*/c\b|(?:set|add)-mppreference|\|\s*at\s+now",
        ),
    ),
    Family(
        "injection",
        "critical",
        "The command opens a shell to another machine.",
        "Leave it out: tools answer by their result, never by a connection of their own.",
        (
            r"/dev/(?:tcp|udp)/",
            rf"\b(?:nc|ncat|netcat)\b[^\n|;]*\s-\w*[ec]\w*\s|\b(?:nc|ncat|netcat)\b[^\n]*\|\s*{_SHELL}",
            rf"\|\s*{_SHELL}[^\n]*\|\s*(?:nc|ncat|netcat|telnet|openssl)\b|\bmkfifo\b|\bmknod\b[^\n]*\sp\b",
            r"\bsocat\b[^\n]*\bexec\b|\bxterm\b[^\n]*-display\b|\b(?:ba)?sh\s+-i\b[^\n]*[<>]&",
            (
                r"socket[^\n]*(?:connect|dup2|fsockopen|exec|spawn|popen)|fsockopen\(|tcpsocket\.|pty\.spawn|io::socket"
                r"|net\.socket|inet\.tcp|\btelnet\b[^\n]*\|\s*(?:/bin/)?(?:ba)?sh"
            ),
            r"\bssh\b[^\n]*\s-\w*R\s*\S*:|proxycommand|\bopenssl\s+s_client\b[^\n]*\||\bnc\b[^\n]*-\w*l\w*\b",
        ),
    ),
    Family(
        "injection",
        "critical",
        "The command destroys data or stops the machine.",
        "Name the exact files below the tool's folder that are to go.",
        (
            r"\brm\s+(?:-{1,2}[\w-]+\s+)+(?:--\s+)?[\"']?(?:/|~|\$home|\$\{home\}|\*|\.\.?)[\"']?/?\*?(?:\s|$|;|&|\||\)|`)",
            r"\brm\s+(?:-{1,2}[\w-]+\s+)+(?:--\s+)?/(?:bin|boot|dev|etc|home|lib\w*|opt|root|sbin|srv|sys|usr|var)/?\*?(?:\s|$|;|&|\|)",
            r"--no-preserve-root|\bxargs\s+(?:-\S+\s+)*rm\s+-\w*r\w*f|\b\w=rm\s*;|\bdel\s+(?:/\w\s+)*[a-z]:|\bmkfs(?:\.\w+)?\s|\bwipefs\b|\bdd\b[^\n]*\bof=/dev/(?:sd|nvme|hd|vd|mem|disk)",
            r">\s*/dev/(?:sd[a-z]|nvme|hd[a-z]|vd[a-z]|mem)|\bshred\b[^\n]*(?:/dev/|/etc/|/var/|-\w*u)",
            r":\s*\(\s*\)\s*\{[^}]*\|[^}]*&\s*\}|\bfork\(\)\s*while|while\s+true[^\n]*fork|%0\|%0",
            r"\bsystemctl\s+(?:stop|disable|mask)\s+(?:--now\s+)?(?:auditd|apparmor|firewalld|falcon|rsyslog|syslog|fail2ban)|\bauditctl\s+-[eD]",
            r"\bremove-item\b[^\n]*-recurse|\bmv\s+/(?:usr/)?s?bin/|>\s*/proc/sys/|--\s+['\"]?-rf\b",
            rf"{_START}(?:shutdown|reboot|halt|poweroff|init\s+[06])\b|\bkill\s+-(?:9|kill)\s+(?:-1|1)\b|\bkillall\s+-9\b",
            r"\bmv\s+(?:/\*?|~|/etc|/home)\s+/dev/null|\bfind\s+/\s[^\n]*-delete\b|\bfind\s+/\s[^\n]*-exec\s+rm\b",
            r"\bformat\s+[c-z]:|\bdel\s+/[fsq]\b|\brd\s+/s\b|\bvssadmin\s+delete|\bcipher\s+/w|\bdrop\s+(?:database|table)\b",
            r"\btruncate\s+-s\s*0\s+/(?:var|etc)|>\s*/(?:etc|var/log|boot)/|\bhistory\s+-c\b|\bunset\s+histfile|histfile=/dev/null",
            r"\biptables\s+-F\b|\bufw\s+disable\b|\bsetenforce\s+0|\bswapoff\s+-a|\bgit\s+push[^\n]*--mirror[^\n]*http",
        ),
    ),
    Family(
        "injection",
        "high",
        "The text breaks out of an argument into a command of its own.",
        "Pass each argument as an item of a list, never as part of a line for a shell.",
        (
            r"^\s*['\"]?\)?\s*(?:;|\|\|?|&&?|`)\s*\w|^[\w./:@-]+['\"]\s*\)?\s*(?:;|&|\|)",
            (
                rf"(?:;|\|\|?|&&?|\n|%0a)\s*{_TOOLS}(?:id|whoami|uname(?:\s+-a)?|ifconfig|printenv|hostname|ipconfig|systeminfo"
                r"|net\s+user|ping\s+-[cn]\s*\d+\s+\S+|sleep\s+\d+|nslookup\s+\S+)\s*(?:#.*|;|`|'|\"|\||&&?.*)?$"
            ),
            r"\$\(\s*(?:id|whoami|uname(?:\s+-a)?|hostname|sleep\s+\d+|cat\s+/\S+|curl\s[^)]*|wget\s[^)]*|nslookup[^)]*|rm\s[^)]*)\s*\)",
            r"`\s*(?:id|whoami|uname(?:\s+-a)?|hostname|sleep\s+\d+|cat\s+/\S+|curl\s[^`]*|wget\s[^`]*|nslookup[^`]*|rm\s[^`]*|ping\s[^`]*)\s*`",
            r"^(?:ping|nslookup|host|dig|traceroute|whois|[\d.]+|[\w.-]+\.(?:txt|pdf|png|jpe?g|gif|csv|docx?|json|com|org|net))\b[^;|&]*(?:;|\||&)\s*(?:ls|dir|pwd|cat|type|net|ps|id|whoami|echo)\b",
            r"\$\{?ifs\b|(?:^|[;&|]\s*)\{\w+,[\w/.,-]+\}|\$\{path:|\$@|\w\\\w\\\w|w'h'o|\"\"[a-z]|''[a-z]|\$'\\x|\$\*",
            r"(?:^|[^#])!\s*(?:/bin/)?(?:ba|z|k|da)?sh\b|['\"](?:/bin/)?(?:ba|z|k|da)?sh\s+(?:-[ci]\b|#)|['\"\\nt]-(?:ba)?sh\b['\"]|\bsed\b[^\n]*['\";]\d*e\s+\w|--eval=|\s-ex\s+['\"]?(?:!|shell\b)",
            r"(?:^|[;&|\n])\s*\$\{?\w+\}?\$\{?\w|(?:^|[;&|\s])(?:/[\w?*\[\]]*\?[\w?*\[\]]*){2,}|(?:^|[;&|]\s*)[a-z]{1,3}(?:\\[a-z]{1,3}){2,}|(?:;\s*)[a-z]{1,3}\\[a-z]{1,3}\s*$|\$\(<\s*/etc",
            r"\b(?:perl|ruby|node|php|lua[\d.]*|tclsh|python[\d.]*)\s+(?:-\w+\s+)*-[ecr]\b[^\n]*(?:system|\bexec|spawn|popen|os\.execute|child_process|urlopen)",
            r"\s-{1,2}(?:o|output|output-document)[= ]\s*/(?:etc|root|boot|usr|bin|lib)/|^\s*--?\w[\w-]*=\s*/(?:etc|root|proc)/",
            r"\b(?:git_ssh_command|bash_env|prompt_command|perl5opt|dyld_insert_libraries|ld_audit|pythonstartup|git_proxy_command)=|\bcore\.(?:hookspath|sshcommand|fsmonitor|gitproxy)\b|node_options=[^\n]*--require",
            r"%0a|%0d|\\x[0-9a-f]{2}\\x[0-9a-f]{2}|<!--#exec|\(\)\s*\{\s*:;\s*\}",
            (
                r"\b(?:os\.system|subprocess\.|__import__|exec\(|eval\(|child_process|shell_exec|passthru|popen)\b?[^\n]*"
                r"(?:rm|curl|wget|id|cat|sh|whoami|nc|import)\b"
            ),
            r"-oproxycommand|--upload-pack|--receive-pack|--use-compress-program|--checkpoint-action|--to-command|-exec=|\bext::",
            (
                r"(?:;|&&|\|\|?)\s*(?:rm\s+-\w*r|nc\s|ncat\s|wget\s+http|curl\s+(?:-\w+\s+)*https?://|cat\s+/etc/|ls\s+(?:-\w+\s+)?/\s*$"
                r"|chmod\s+777|dir\s+c:|type\s+c:|del\s|shutdown|reboot)"
            ),
            r"\bld_preload=|\bld_library_path=(?:/tmp|/dev/shm|\.)|\bgit\s+-c\s+core\.(?:sshcommand|pager|fsmonitor|editor)",
        ),
        harmless=(
            r"chown\s+(?:-\w+\s+)*\"?\$\((?:whoami|id -un)\)",
            r"\bcurl[^|;&\n]*(?:&&|;)\s*curl\s",
            r"\$\(hostname\)\.\w+",
            r"^\s*(?:#|\.)",
            r"cd\s+\S+\s*&&\s*(?:curl|wget)\s[^|;&\n]*$",
        ),
    ),
    Family(
        "privilege_escalation",
        "high",
        "The command asks for more rights than the tool has.",
        "Let an administrator do what needs these rights.",
        (
            (
                rf"{_START}(?:sudo|doas|pkexec|su|runas|gosu|sudoedit|visudo|newgrp|nsenter|unshare|capsh|setcap|chroot|insmod"
                r"|modprobe|kexec|setpriv|machinectl|passwd|chpasswd|vipw|usermod|useradd|adduser|groupadd|gpasswd|setfacl|polkit)\b"
            ),
            r"\bchmod\s+(?:-\w+\s+)*(?:[ugoa]*\+\w*s\w*|0?[2467][0-7]{3})\b|\bchmod\s+(?:-\w+\s+)*(?:[0-7]?777|a\+rwx|o\+w|666)\s+(?:-\w+\s+)*/",
            r"\bchown\s+(?:-\w+\s+)*(?:root|0)(?::\w*)?\s|\bfind\b[^\n]*-perm\s+(?:-|/)?(?:-?u=s|[246]000)",
            r"\s(?:-m|--mode)[= ]?0?[2467][0-7]{3}\b|\bdsenableroot\b|\bdscl\b[^\n]*\b(?:append|create|passwd)\b",
            r"\bmount\b[^\n]*\bremount\b|\bkubectl\s+debug\s+node/|source=/(?:,|\s)|\s-v\s+/(?:etc|root|var/run)[:/]|--device[= ]/dev/(?:sd|nvme|mem)|\bgcloud\b[^\n]*service-accounts\s+keys\s+create|\baz\s+ad\s+sp\s+create",
            rf"{_START}(?:chisel|ligolo\S*|frpc|dnscat2?|iodine|gs-netcat|gsocket|pwncat\S*|msfvenom|msfconsole|hashcat|sqlmap|crackmapexec|impacket-\w+|secretsdump\S*|linpeas\S*|winpeas\S*)\b",
            r"--privileged|\bexec\s[^\n]*(?:-u|--user)[= ](?:root|0)\b|\bmount\s+(?:-\w+\s+\S+\s+)*/dev/|\b(?:gdb|strace|ltrace)\b[^\n]*\s-p\s*\d|--cap-add|--pid[= ]host|--net(?:work)?[= ]host|-v\s+/:/|docker\.sock|--security-opt\s+\S*unconfined|--userns[= ]host",
            r"/etc/(?:sudoers|pam\.d|ld\.so\.preload|polkit)|nopasswd|authorized_keys|/etc/passwd[\"']?\s*(?:$|<<)|>>?\s*/etc/passwd",
            r"\bsetuid\(|\bseteuid\(|\bos\.setuid|\bprctl\(|core_pattern|release_agent|/proc/sysrq|\bsysctl\s+-w\s+kernel",
            r"\bkubectl\b[^\n]*(?:cluster-admin|edit\s+clusterrole|create\s+clusterrolebinding|--as[= ]system:)|system:masters|--as-group",
            r"\bnet\s+(?:user\s+\S+\s+\S+\s+/add|localgroup\s+administrators)|\btoken::elevate|\bmimikatz|\bpsexec|\breg\s+(?:add|save)\s+hk(?:lm|ey)",
            r"\baws\s+iam\s+(?:attach|put|create|add|update)|\bgcloud\b[^\n]*add-iam-policy-binding|\baz\s+role\s+assignment\s+create|sts\s+assume-role",
            r"\bset\s+-o\s+privileged|\b(?:ba)?sh\s+-p\b|\bpython\S*\s+-c\s+[^\n]*setuid|\bchattr\s+-i|\bchmod\s+4|\bdeluser|\blinpeas|\bgtfobins",
        ),
    ),
    Family(
        "data_exfiltration",
        "high",
        "The command reads keys or passwords, or sends files or the environment to another machine.",
        "Let tools answer by their result; keep secrets in the vault.",
        (
            (
                rf"\b(?:cat|less|more|head|tail|strings|xxd|od|base64|cp|scp|rsync|tar|zip|gzip|nl|tac|sed|awk|cut|sort|grep|find|dd|mv|ln|tee"
                rf"|openssl|gpg|curl|wget|nc|vim?|nano|type|hexdump|rev|paste|diff|while\s+read|git|aws|gsutil|rclone|python\S*|perl|php|ls|stat)\b[^;&\n]*{_SECRET_FILE}"
            ),
            rf"<\s*~?{_SECRET_FILE}|\b(?:source|\.)\s+\S*\.env\b\s*(?:;|&&)[^\n]*(?:curl|nc|wget)",
            r"\bcurl\b[^\n|;]*(?:\s-T\s|--upload-file|\s-(?:d|F)\s*[\"']?\S*@|--data(?:-binary|-raw|-urlencode)?[= ][\"']?\S*@|--form[= ]\S*@)",
            r"\bcurl\b[^\n|;]*(?:\$\(|`|\$\{?(?:aws_|secret|token|password|api_?key|db_|home\b|path\b|github_|database_))",
            r"\bwget\b[^\n|;]*(?:--post-(?:file|data)|--body-(?:file|data)|\$\(|`)",
            r"\|\s*(?:curl|wget|nc|ncat|netcat|socat|telnet|mail|mailx|sendmail|mutt|openssl\s+s_client|ssh)\b",
            r"\b(?:nc|ncat|netcat)\b[^\n|]*<\s*\S|\bscp\b[^\n]*\s\S+@?\S+:\S*\s*$|\brsync\b[^\n]*\s\S+@\S+:|\btftp\b[^\n]*put|\bftp\b[^\n]*\bput\b",
            r"(?:^|[;&|(`]\s*)(?:env|printenv|set|export\s+-p)\s*[|>]|\baws\s+s3\s+(?:cp|sync|mv)\s+(?:/|~|\.)\S*\s+s3://|\bgsutil\s+(?:-m\s+)?cp\s+\S+\s+gs://|\brclone\s+(?:copy|sync)",
            r"(?:^|[;&|`(\n]|\b(?:then|do|else|xargs)\s)\s*(?:nslookup|dig|host|ping)\b[^\n]*(?:\$\(|`)|webhook\.site|requestbin|interact\.sh|oast\.\w+|burpcollaborator|ngrok|pastebin\.com|transfer\.sh|file\.io|0x0\.st|termbin",
            r"169\.254\.169\.254|metadata\.google|fd00:ec2|100\.100\.100\.200|\bmysqldump\b[^\n]*\||\bpg_dump(?:all)?\b[^\n]*\|\s*(?:curl|nc|ssh)",
            r"\bkubectl\b[^\n]*\bget\s+secrets?\b|\bvault\s+(?:kv\s+get|read)|secretsmanager\s+get-secret|\baws\s+configure\s+(?:get|export)|\bsecurity\s+(?:find|dump)-\w*|\bgpg\b[^\n]*--export-secret|\bget-parameters?\b[^\n]*--with-decryption",
            r"\b(?:python[\d.]*|node|ruby|perl|php)\s[^\n]*(?:requests\.(?:post|put)|urlopen|fetch\(|net::http)[^\n]*(?:environ|process\.env|open\(|env\b)|\bfind\b[^\n]*(?:\.pem|\.key|id_rsa|\.env|\.kdbx)[^\n]*-exec",
            r"file:///(?:etc|proc|root|home|var|users)\b|\bget-access-token\b|(?:chrome|chromium|firefox|brave\S*|microsoft-edge)/[^\n]*(?:cookies|login data|logins\.json|key4|default)|\bgrep\b[^\n]*(?:akia|begin\s\S*\s?private|ghp_|xox[bp])[^\n]*\s[/~]",
            r"\b(?:dig|nslookup|host|ping)\s[^\n;|]*\$\{?\w+\}?\.[\w-]+\.|/proc/(?:\*|\$\w+)/environ|\blftp\b[^\n]*\b(?:put|mirror\s+-R)|\bsmbclient\b[^\n]*\bput\b|\bcroc\s+send|\bwormhole\s+send|\bgh\s+gist\s+create|print-access-token|\baz\s+storage\s+blob\s+upload|\bs3cmd\s+put",
            r"\bgit\s+(?:push|remote\s+add)[^\n]*https?://[^\s/]*(?:evil|attacker)|\bhttp\s+post\b[^\n]*@|\bpython\S*\s+-m\s+http\.server|\bphp\s+-S\s+0\.0\.0\.0|\bdocker\s+(?:cp|save)\b[^\n]*\|",
            r"(?:grep|rg|ag)\s[^\n]*(?:passw|secret|api_?key|token|aws_)\S*\s+(?:-\w+\s+)*/(?:etc|home|var|root|\s|$)|\btcpdump\b[^\n]*-w|\bxclip\b|\bscreencapture\b|\bkeylog",
        ),
    ),
    TEMPLATES,
)
SCANNERS = ()
