"""What attacks look like in SQL: a whole statement, a fragment of one, or a value meant for one."""

from security.content.families import Family, Scanner
from security.content.signs.sql_shape import is_broken
from security.content.signs.templates import TEMPLATES

_PARAMETERS = "Pass values as parameters of the statement, and name columns from a list of your own."
BROKEN = Family(
    "injection",
    "critical",
    "The text breaks out of a value of a statement: open quotes, a second statement, or a cut-off rest.",
    _PARAMETERS,
    (),
)
_GAP = r"(?:\s|/\*.*?\*/|\+)+"
_SECRET = r"(?:passwords?|passwd|password_?hash|pwd|pass_?hash|secret(?:_key)?|api_?keys?|access_?token|private_?key|ssn|credit_?card\w*|card_?number|cvv)"
FAMILIES = (
    Family(
        "injection",
        "high",
        "The condition is made to be always true or false, or answers of another query are mixed in.",
        _PARAMETERS,
        (
            rf"\b(?:or|and|xor|\|\||&&){_GAP}(?:not{_GAP})?\(*\s*(?:\d+|'[^']*'|\"\w?\")\s*(?:=|<>|!=|<=>|<|>|like|rlike|is)\s*\(*(?:\d+\b|'|\"|true)",
            rf"\b(?:or|\|\|){_GAP}(?:not{_GAP})?(?:true|1|'1'|\"1\"|false)\s*(?:--|#|;|/\*|$|\))",
            rf"'\s*\)*\s*(?:or|\|\||and|&&|xor){_GAP}\(*\s*['\d]|^\"\s*\)*\s*(?:or|\|\||and|&&){_GAP}\(*\s*[\"\d]",
            r"['\"]\s*(?:or|and)\s*['\"(]|'\s*=\s*'\s*$|'\s*\|\|\s*'|^'\s*[-+*]\s*'|'\s*like\s*'%",
            rf"\bunion{_GAP}(?:all{_GAP}|distinct{_GAP})?\(?\s*select{_GAP}(?:null\s*(?:,\s*(?:null|'[^']*'|\d+|@@\w+|\w+\(\))\s*)*(?:--|#|;|$|/\*|from{_GAP}(?:dual|information_schema))|(?:\d+\s*,\s*)+(?:\w+\(|@@|\d+\s*(?:--|#|;|$|/\*|,\s*\w+\())|@@|char\(|concat|group_concat|load_file|user\(|current_user|version\(|database\(|table_name|column_name|0x|{_SECRET}|\w+\s*,\s*{_SECRET})",
            rf"\bunion{_GAP}(?:all{_GAP})?select\b[^;]*\bfrom{_GAP}(?:\w+\.)?(?:users?|admins?|accounts?|members?|credentials|passwords?|secrets?|mysql\.user|dual)\b",
            r"^[\w@.-]{1,40}'\s*;|\d(?:e\d+)?union\s*select",
            r"^[\w@.-]{1,40}'\s*\)*\s*(?:and|or|xor|union|having|order|group|limit|like|in|between|is|not|rlike|regexp)\b|'\s*(?:\+|\|\|)\s*\(\s*select\b|\bcase\s+when\s+\(?\s*(\d+)\s*(?:=|<>|<|>)\s*\d+",
            r"^\s*-?\d*\s*[-+*/|&^%,]?\s*\(\s*select\s+[\d'@]",
            r"[{,]\s*['\"]?\$(?:ne|gte?|lte?|regex|where|nin|in|exists|or|expr|function)['\"]?\s*:",
            r"\bunion/\*|/\*!\d*|\bun/\*\*/ion|sel/\*\*/ect|\*/\s*(?:or|and|union|select)\b|/\*\*/(?:or|and|union|select|from|where)",
            r"\bprocedure\s+analyse\s*\(|\bhaving\s+\d+\s*=\s*\d+|\bgroup\s+by\s+\d+\s*--|\border\s+by\s+\d+\s*(?:--|#|/\*)|\brlike\s*\(\s*select|\bwhere\s+\d+\s*=\s*\d+\s*(?:or\b|--|;)",
        ),
    ),
    Family(
        "injection",
        "high",
        "The statement waits on purpose, or makes errors that tell what the database holds.",
        _PARAMETERS,
        (
            r"\b(?:sleep|pg_sleep\w*|benchmark|dbms_lock\.sleep|dbms_pipe\.receive_message|dbms_session\.sleep|randomblob)\s*\(|\bwaitfor\s+(?:delay|time)\b|\bget_lock\s*\(|zeroblob\s*\(\s*\d{6,}",
            r"\b(?:extractvalue|updatexml|xmltype|geometrycollection|polygon|multipoint|linestring|gtid_subset|json_keys)\s*\(\s*[^)]*(?:select|concat|0x|user|version)|exp\s*\(\s*~|floor\s*\(\s*rand\s*\(|utl_inaddr|ctxsys\.|ordsys|dbms_utility|name_const\s*\(",
            r"\b(?:convert|cast)\s*\(\s*(?:int\s*,\s*)?\(\s*select|\bconvert\s*\(\s*int\s*,\s*@@|\bif\s*\([^)]*(?:substring|substr|mid|ascii|ord|length)\s*\(|\b(?:ascii|ord|unicode)\s*\(\s*(?:substring|substr|mid|lower)\s*\(|\bcase\s+when\b[^;]*\bthen\s+(?:pg_sleep|sleep|1/0|to_char\(1/0)|\bsubstr(?:ing)?\s*\(\s*(?:\(\s*select|@@|version|database|user|current_user)",
            r"\b(?:char|chr|nchar)\s*\(\s*\d+\s*(?:,|\)\s*(?:\|\||\+))|concat(?:_ws)?\s*\(\s*0x|\b0x[0-9a-f]{12,}\b|@@(?:version|datadir|hostname|basedir|secure_file_priv|servername|global|tmpdir)|\bselect\s+(?:version|user|database|current_database|system_user|session_user)\s*\(\s*\)",
        ),
    ),
    Family(
        "injection",
        "critical",
        "The statement runs a program, or text as a statement.",
        "Let the database's role have no right to run programs; write statements out.",
        (
            r"\bxp_\w+|\bsp_(?:oacreate|oamethod|executesql|makewebtask|start_job|add_job\w*|configure|execute_external_script)\b|\b(?:to|from)\s+program\b|\bsys_(?:exec|eval)\s*\(|\blib_mysqludf",
            r"\bexec(?:ute)?\s*\(|\bexec(?:ute)?\s+(?:master|immediate|xp_|sp_|@)|\bdeclare\s+@\w+\s+n?(?:var)?char|\bprepare\s+\w+\s+from\s+(?:0x|@|concat|char|unhex)|\bshutdown\b(?:\s*(?:;|--|with|immediate|$))",
            r"\blanguage\s+['\"]?(?:c|plpythonu|plpython3u|plperlu|plsh|java)\b|\bload_extension\s*\(|\bcreate\s+(?:or\s+replace\s+)?function\b[^;]*\b(?:soname|libc|system)|\bdbms_(?:scheduler|java|xmlquery|export_extension)|\bjava_?script\s*:|\bdo\s+\$\w*\$[^$]*\b(?:copy|execute|program)\b",
        ),
    ),
    Family(
        "injection",
        "high",
        "The statement destroys a database, a schema, or tables of people, orders or records.",
        "Let an administrator drop or empty tables, after a backup.",
        (
            r"\bdrop\s+(?:database|schema)\b|\bdrop\s+table\s+(?:if\s+exists\s+)?(?:users?|accounts?|admins?|audit\w*|logs?|customers|orders|payments|students|employees)\b|\bdrop\s+table\s+(?:if\s+exists\s+)?\*|\btruncate\s+(?:table\s+)?(?:users?|accounts?|audit\w*|logs?)\b|\bdelete\s+from\s+(?:audit\w*|logs?|users?|\w*ledger\w*)\s*(?:;|$|--|where\s+1\s*=\s*1)",
        ),
    ),
    Family(
        "data_exfiltration",
        "high",
        "The statement reads or writes files, other servers, the list of tables, or people's secrets.",
        "Read only the columns that the task needs, by a role that sees no others.",
        (
            r"\binto\s+(?:outfile|dumpfile)\b|\bload_file\s*\(|\bload\s+data\b[^;]*\binfile\b|\bload\s+xml\b|\bpg_(?:read_(?:binary_)?file|ls_dir|stat_file|file_write|ls_\w+)\s*\(|\blo_(?:export|import|get|put)\s*\(|\b(?:readfile|writefile|edit|fts3_tokenizer)\s*\(|\bcopy\b[^;]*\b(?:to|from)\s+(?:e?'|\$\$)|\b(?:query|database|table|schema)_to_xml\s*\(|\bpg_(?:reload_conf|terminate_backend|cancel_backend|rotate_logfile)\s*\(|\bpragma\s+writable_schema|\bcurrent_setting\s*\(\s*'(?:data_directory|hba_file|config_file|is_superuser|ssl|log_)",
            r"\bopen(?:rowset|datasource|query|xml)\s*\(|\bbulk\s+insert\b|\bdblink\w*\s*\(|\butl_(?:http|file|tcp|smtp)|\bhttpuritype|\bdbms_ldap|\battach\s+(?:database\s+)?['\"]|\bbackup\s+(?:database|log)\b|\bselect\b[^;]*\binto\s+\w*\.\w*\.\w*\.\w+|\bcreate\s+(?:server|foreign\s+data|subscription|publication|user\s+mapping)\b|\\\\\\\\[\w.$-]+\\\\|\bhttp_(?:get|post)\s*\(|\bxmlparse|\bextproperty",
            r"\binformation_schema\b|\bpg_(?:shadow|authid|user_mapping\w*|hba_file\w*|largeobject|catalog\.pg_(?:shadow|authid))\b|\bmysql\.(?:user|db|global_priv)\b|\bsys(?:\.|_)(?:sql_logins|syslogins|user\$|objects|databases|tables|columns|dm_)|\bsys(?:objects|columns|databases|logins)\b|\bsqlite_(?:master|schema|temp_master)\b|\ball_(?:tables|users|tab_columns)\b|\bdba_\w+|\buser_tables\b|\bv\$\w+|\brdb\$|\bmsysobjects|\bpg_(?:tables|roles|user|database|stat_activity)\b",
            rf"\bselect\b(?:[^;\"]*[\s,(.])?{_SECRET}\b[^;\"]*\bfrom\b|\b(?:string_agg|group_concat|array_agg|listagg|json_agg|xmlagg)\s*\([^)]*{_SECRET}",
            r"\bfrom\s+(?:\w+\.)?(?:passwords?|credentials|secrets?|api_?keys?|credit_?cards?|vault\w*|private_?keys?)\b",
        ),
        harmless=(r"\"[^\"]*\"",),
    ),
    Family(
        "privilege_escalation",
        "high",
        "The statement gives rights, or makes or changes who may sign in.",
        "Let an administrator give rights, by the database's own tools.",
        (
            r"\bgrant\s+(?:all|dba|super|sysdba|create\s+(?:any|user|role)|execute\s+any|select\s+any|file|process|pg_\w+|rds_superuser|db_owner|sysadmin|admin|superuser|root|postgres|\w+\s+to\s+public|impersonate|control|proxy)\b|\bgrant\b[^;]*\b(?:with\s+(?:grant|admin)\s+option|to\s+public)\b",
            r"\bgrant\s+\w+\s+to\s+\w+\s*(?:;|$|--)",
            r"\b(?:create|alter|drop)\s+(?:user|role|login|credential|policy|server\s+role|profile)\b|\bsuperuser\b|\bcreaterole\b|\bcreate\s+extension\s+(?:if\s+not\s+exists\s+)?\"?(?:plpython|plperlu|pltclu|dblink|file_fdw|postgres_fdw|adminpack|lo\b)|\bbypassrls\b|\bidentified\s+by\b|\bset\s+password\b|\bset\s+(?:session\s+|local\s+)?(?:role|authorization|session_authorization)\b|\breset\s+role\b|\bexecute\s+as\b|\bsetuser\b|\brevert\b\s*;",
            r"\bsp_(?:addsrvrolemember|addrolemember|addlogin|adduser|grantdbaccess|password|change_users_login)\b|\balter\s+(?:system|authorization|database\b[^;]*\bset\s+trustworthy|default\s+privileges|table\b[^;]*\b(?:disable|no\s+force)\s+(?:row\s+level|trigger)|table\b[^;]*\bowner\s+to)|\bdisable\s+trigger\b|\bset\s+(?:global\s+)?(?:row_security|session_replication_role|general_log|log_bin_trust|local_infile|sql_log_bin|secure_auth)\b|\bflush\s+privileges\b",
            r"\bupdate\b[^;]*\bset\b[^;]*\b\"?(?:is_?(?:admin|superuser|staff|root|owner)|role(?:_id|s)?|admin|privileges?|permissions?|access_level|user_?type|user_?level|rolsuper|group_id|passw\w*|pwd)\"?\s*=",
            r"\binsert\s+into\s+[\w.\"`]*(?:users?|admins?|roles?|user_roles|permissions?|grants?|authid|accounts?|sudoers|user_groups|privileges?|pg_authid|superusers?|group_members|user_permissions)[\"`]?\s*(?:\([^)]*\))?\s*values\s*\([^;]*(?:admin|root|super|owner|true|\b1\b)|\binsert\s+into\s+(?:admins?|superusers?|sudoers|administrators)\b|\bsecurity\s+definer\b|\binsert\s+into\s+(?:mysql\.user|sys\.|pg_auth\w*)|\bupdate\s+(?:mysql\.user|pg_authid|sys\.)",
        ),
    ),
    TEMPLATES,
)
SCANNERS = (Scanner(BROKEN, is_broken),)
