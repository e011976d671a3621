"""What attacks look like in HTML."""

from security.content.families import Family
from security.content.signs.templates import TEMPLATES

_S = r"[\s/\x00-\x1f\"']"
FAMILIES = (
    Family(
        "injection",
        "high",
        "The markup runs a script.",
        "Send markup without scripts, handlers and javascript: addresses; or clean it before it is shown.",
        (
            r"<\s*script\b|<\s*/\s*script\b|<\s*(?:x:|svg:)script\b",
            rf"<[^>]*{_S}on[a-z]{{3,30}}\s*=|<[^>]*{_S}(?:hx-on|data-hx-on|x-on:|v-on:|@click|ng-\w+|x-init|x-data|v-html|onclick)\S*\s*=",
            r"(?:j\s*a\s*v\s*a|v\s*b|l\s*i\s*v\s*e)\s*s\s*c\s*r\s*i\s*p\s*t\s*:",
            r"<\s*(?:iframe|object|embed|applet|frame|frameset|portal|xss|isindex|bgsound|layer|ilayer|keygen)\b",
            r"data:\s*(?:text/html|application/(?:xhtml|x-javascript|javascript)|image/svg\+xml|text/xml)",
            r"expression\s*\(|-moz-binding|behavior\s*:|url\s*\(\s*['\"]?\s*javascript|@import\b[^;]*(?:javascript|//)",
            r"<\s*(?:svg|math)\b[^>]*>[^<]*<\s*(?:animate|set|use|foreignobject|handler|script|a\b|image|maction|mtext|style)|srcdoc\s*=|<\s*(?:animate|set)\b[^>]*\b(?:attributename|to|values)\s*=",
            r"<\s*(?:base|link)\b[^>]*(?:href|src)\s*=\s*['\"]?\s*(?:https?:)?//|<\s*link\b[^>]*rel\s*=\s*['\"]?import|<!entity|<!--\[if|<\?xml-stylesheet|<!--#(?:exec|include)|<\?php|<esi:",
            r"\bhx-(?:get|post|put|delete|patch|trigger|vals|headers)\s*=|\bsec-trusted|\bfetch\(\s*['\"`]|\bdocument\.(?:cookie|write|location)|\.innerhtml\s*=|window\.location|\balert[(`]|\beval\(|string\.fromcharcode",
            r"\b(?:id|name)\s*=\s*['\"]?(?:getelementby\w*|queryselector\w*|createelement|documentelement|ownerdocument|defaultview|__proto__)\b|<\s*input\b[^>]*style\s*=[^>]*url\s*\(",
            r"<\s*noscript\b[^>]*>\s*<\s*p\s+title|<\s*template\b[^>]*>.*<\s*script|\bstyle\s*=\s*['\"][^'\"]*(?:url\s*\(\s*['\"]?\s*(?:data|vbs)|position\s*:\s*fixed[^'\"]*z-index)",
        ),
        # A page's own script by reference, and what stands in text as an example.
        harmless=(
            r"<script\b[^>]*\bsrc\s*=\s*['\"]?/[^/>][^>]*>\s*</script>",
            r"<script\b[^>]*type\s*=\s*['\"]application/(?:ld\+)?json['\"][^>]*>[^<]*</script>",
        ),
    ),
    Family(
        "data_exfiltration",
        "high",
        "The markup sends what a reader sees or types to another host.",
        "Leave out forms, refreshes and hidden images that point to other hosts.",
        (
            r"<\s*meta\b[^>]*http-equiv\s*=\s*['\"]?\s*(?:refresh|set-cookie|content-security|link|location)",
            r"<\s*form\b[^>]*action\s*=\s*['\"]?\s*(?:https?:)?//|formaction\s*=|<\s*(?:button|input)\b[^>]*form\s*=\s*['\"]?[^>]*(?:https?:)?//",
            r"<\s*img\b[^>]*src\s*=\s*['\"]?\s*(?:https?:)?//[^'\"\s>]*\?[^'\"\s>]*(?:cookie|token|secret|data|key|passw|session|\{\{|\$\{|=)[^>]*(?:(?:width|height)\s*=\s*['\"]?[01]\b|display\s*:\s*none|\{\{|\$\{)|<\s*img\b[^>]*(?:width|height)\s*=\s*['\"]?[01]\b[^>]*src\s*=\s*['\"]?\s*(?:https?:)?//[^'\"\s>]*\?",
            r"<\s*img\b[^>]*src\s*=\s*['\"]\s*(?:https?:)?//[^'\"]*(?:\?|$)[^'\"<]*<|<\s*img\b[^>]*src\s*=\s*['\"]\s*(?:https?:)?//[^'\"]*$|<\s*\w+\b[^>]*\bping\s*=|\[\w+\s*[\^$*]=\s*['\"]?[^\]]*\][^{]*\{[^}]*url\s*\(|@font-face[^}]*unicode-range|background(?:-image)?\s*:\s*url\s*\(\s*['\"]?\s*(?:https?:)?//[^)]*\?",
            r"<\s*(?:link|img|video|audio|source|track|input|body|table|td)\b[^>]*(?:href|src|poster|background|dynsrc|lowsrc)\s*=\s*['\"]?\s*(?:https?:)?//[^'\"\s>]*(?:webhook\.site|interact\.sh|oast|burpcollaborator|requestbin|ngrok|attacker|evil|collect|exfil|steal)|<\s*link\b[^>]*rel\s*=\s*['\"]?(?:dns-prefetch|preconnect|prefetch)[^>]*//[^'\"\s>]*(?:\{\{|\$\{|evil|attacker)",
        ),
    ),
    Family(
        "privilege_escalation",
        "medium",
        "The markup changes who may do what when somebody opens it.",
        "Leave out hidden fields and forms that set roles or rights.",
        (
            r"<\s*input\b[^>]*name\s*=\s*['\"]?(?:is_?(?:admin|staff|superuser)|role|roles|groups?|permissions?|privilege|csrf\w*|user_permissions|access_level)\b[^>]*value\s*=|<\s*input\b[^>]*value\s*=\s*['\"]?(?:admin|root|superuser|owner)\b[^>]*>",
            r"<\s*form\b[^>]*action\s*=\s*['\"][^'\"]*/(?:admin|users|roles|permissions|grants|account|password)\b[^>]*>",
        ),
    ),
    TEMPLATES,
)
SCANNERS = ()
