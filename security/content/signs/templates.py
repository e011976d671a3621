"""Expressions that a template engine would carry out."""

from security.content.families import Family

TEMPLATES = Family(
    "injection",
    "high",
    "The text holds an expression that a template engine would carry out.",
    "Pass values as data; never render what a caller wrote as a template.",
    (
        r"[{$#*@%<]\{?\s*\(?['\"]?\d+['\"]?\s*\*\s*['\"]?\d+['\"]?\s*\)?\s*[}%]",
        r"\{\{[^}]*['\"]?\d+['\"]?\s*\*\s*['\"]?\d+",
        r"<%=?\s*\d+\s*\*\s*\d+",
        r"[@#$]\(\s*\d+\s*\*\s*\d+\s*\)",
        r"\{[{%][^}]*__\w+__",
        r"\{[{%][^}]*\.(?:mro|func_globals|constructor|getclass|popen|system|subprocess|environ)\b",
        r"\{\{\s*(?:config|self|settings|request)\s*(?:\}|\.(?:items|secret|application|environ|__|from_))",
        r"\{\{[^}]*(?:lipsum|cycler|joiner|namespace|get_flashed_messages|url_for)\.",
        r"\{\{[^}]*\|\s*(?:attr|system|exec|passthru|shell_exec|map\(['\"]system|filter\(['\"](?:system|exec))",
        r"\{\{[^}]*(?:constructor|registerundefinedfiltercallback|getfilter|range\.constructor|import\(|eval\()",
        r"\{%\s*(?:debug|import\s+os|set\s+\w+\s*=\s*cycler)",
        r"\{php\}|\{/?literal\}\{|\{system\(|\{if\s+(?:system|phpinfo)",
        r"[$#*%]\{[^}]*(?:\bt\(java|java\.lang|getruntime|processbuilder|classloader|forname\(|\.exec\(|@java)",
        r"\$\{(?:jndi|env|sys|java|lower|upper|main|date|::-|script|dns|url):",
        r"\$\{\{?[^}]*(?:__import__|os\.system|popen\(|eval\(|exec\(|require\(|process\.|global\.)",
        r"#\{[^}]*(?:system|`|exec|file\.(?:read|open)|kernel|process|global|io\.popen)",
        r"<%[=-]?\s*(?:system|exec|`|file\.(?:open|read)|kernel|io\.popen|dir\.|runtime|process|global|require)",
        r"freemarker\.template\.utility|objectconstructor\b|\?new\(\)",
        r"#set\s*\(\s*\$\w+\s*=\s*['\"$][^)]*(?:class|runtime|exec)|\$class\.inspect|\$\w+\.class\.forname",
        r"__import__\(|__subclasses__|__globals__|__builtins__|\.mainmodule\b|constructor\.constructor",
        r"\{\{[^}]*(?:\.subclasses\(|\.class\.|get_user_file|touppercase\(|\bopen\(|\bread\(|/etc/)",
        r"\(\)\.__class__|''\.__class__|\"\"\.__class__",
        r"\[\[\$\{[^}]*\}\]\]|__\$\{[^}]*\}__",
    ),
)
