#include "services/guardrail/detect/injection_rules.hpp"

namespace stackgate::guardrail {
namespace {

using enum InjectionKind;

// Each wants more than the word alone: prose about `eval`, "the union selects" and a template's `{{ name }}` are none.
constexpr InjectionRule rules[] = {
    {sqli, "sql tautology",
     R"re(['"]\s*\)?\s*(?:or|and|\|\||&&)\s+(?:\(\s*)?(?:\d+\s*=\s*\d+|'[^'\n]*'\s*=\s*'[^'\n]*|"[^"\n]*"\s*=\s*"[^"\n]*|true\b))re"},
    {sqli, "sql tautology of numbers", R"re(=\s*\d+\s*\)?\s+or\s+\d+\s*=\s*\d+)re"},
    {sqli, "sql union",
     R"re(\bunion\s+(?:all\s+|distinct\s+)?select\s+(?:null\b|\d|\*|@@|'|[\w.@]+\s*\(|[\w.@]+\s*,\s*[\w.@(*']))re"},
    {sqli, "sql union", R"re((?:['")]|\d)\s*union\s+(?:all\s+|distinct\s+)?select\b)re"},
    {sqli, "sql union", R"re(\bunion\s+all\s+select\s+\S+\s+from\b)re"},
    {sqli, "sql second statement",
     R"re(['"\d)]\s*\)?\s*;\s*(?:drop|truncate|alter)\s+(?:table|database|schema|user)\b)re"},
    {sqli, "sql second statement",
     R"re(['"]\s*\)?\s*;\s*(?:delete\s+from|insert\s+into|update\s+\S+\s+set|select\s+\S+\s+from|exec(?:ute)?\s)\b)re"},
    {sqli, "sql cut off by a comment",
     R"re(\b(?:drop|truncate)\s+(?:table|database|schema)\s+(?:if\s+exists\s+)?[\w."`\[\]]+\s*;?\s*(?:--|#|/\*))re"},
    {sqli, "sql cut off by a comment", R"re(\w'\s*\)?\s*;?\s*(?:--[ \t]?|#)\s*$)re"},
    {sqli, "sql waits", R"re((?:\b(?:and|or|select)\s+|[;,]\s*)(?:pg_)?(?:sleep|benchmark)\s*\(\s*\d)re"},
    {sqli, "sql waits", R"re(\bwaitfor\s+delay\s+'|\bdbms_pipe\.receive_message\s*\()re"},
    {sqli, "sql reads the schema",
     R"re(\bfrom\s+(?:information_schema\.\w|sqlite_master\b|pg_catalog\.\w|sys\.(?:tables|objects)\b))re"},
    {sqli, "sql reaches files or a shell", R"re(\bxp_cmdshell\b|\bload_file\s*\(|\binto\s+(?:out|dump)file\s+['"])re"},

    {xss, "script element", R"re(<\s*/?\s*script(?:[\s>/]|$))re"},
    {xss, "event handler", R"re(<[a-z][^>]*[\s/"']on[a-z]{3,20}\s*=\s*[^{\s>])re"},
    {xss, "javascript link", R"re((?:href|src|action|formaction|data|to)\s*=\s*["']?\s*(?:javascript|vbscript)\s*:)re"},
    {xss, "javascript link", R"re(\]\(\s*(?:javascript|vbscript|data:text/html)\s*:?)re"},
    {xss, "embedded page", R"re(<\s*(?:iframe|object|embed|applet|frameset)[\s>/])re"},
    {xss, "embedded page", R"re((?:src|href|data)\s*=\s*["']?\s*data:text/html)re"},
    {xss, "redirecting page", R"re(<\s*meta[^>]*http-equiv\s*=\s*["']?refresh)re"},
    {xss, "cookies sent away", R"re((?:fetch|location|\.src|sendbeacon|\.open)\b[^\n]*document\.cookie)re"},
    {xss, "image that carries data away", R"re(!\[[^\]\n]*\]\(\s*https?://[^)\s]*[?&][^)\s=]*=[^)\s]{24,})re"},

    {markup_template, "template reaches into objects",
     R"re(\{[{%][^}\n]*(?:__\w+__|\|\s*attr\s*\(|\.(?:mro|subclasses)\s*\()[^}\n]*\})re"},
    {markup_template, "template reads the program",
     R"re(\{\{[^}\n]*\b(?:config\.|self\._|request\.(?:application|environ|args)|cycler\.|joiner\.|namespace\.|lipsum\.|url_for\.|get_flashed_messages)[^\n]*\}\})re"},
    {markup_template, "template reads the program", R"re(\{\{\s*config\s*[|}])re"},
    {markup_template, "template computes", R"re(\{\{\s*['"]?\d+['"]?\s*[*+/-]\s*['"]?\d+['"]?\s*\}\})re"},
    {markup_template, "template includes or defines",
     R"re(\{%[-+]?\s*(?:import|include|extends|from|macro|set|call|filter|do)\s[^}\n]*%\})re"},
    {markup_template, "template loops", R"re(\{%[-+]?\s*for\s[^}\n]*\sin\s[^}\n]*(?:\(|\[|range|config)[^}\n]*%\})re"},
    {markup_template, "expression language",
     R"re([$#]\{[^}\n]*(?:\bT\s*\(|\.getClass|getRuntime|new\s+java|jndi:|ProcessBuilder|\bsystem\s*\(|freemarker))re"},
    {markup_template, "embedded ruby", R"re(<%=?\s*(?:system|exec|eval|file\.|io\.|`|\d+\s*\*\s*\d+))re"},

    {code, "python runs a command",
     R"re(\bos\.(?:system|popen|exec[lv]p?e?|spawn[lv]p?e?|remove|unlink|rmdir|kill)\s*\()re"},
    {code, "python runs a command",
     R"re(\bsubprocess\.(?:popen|run|call|check_output|check_call|getoutput|getstatusoutput)\s*\()re"},
    {code, "python evaluates", R"re((?:^|[^\w.])(?:eval|exec|compile)\((?:[^)\s]|\s*['"_]))re"},
    {code, "python evaluates",
     R"re(\b__import__\s*\(|\b__builtins__\b|\b__subclasses__\s*\(|\bimportlib\.import_module\s*\()re"},
    {code, "python destroys or loads",
     R"re(\bshutil\.rmtree\s*\(|\b(?:pickle|marshal|dill)\.loads?\s*\(|\bpty\.spawn\s*\()re"},
    {code, "python opens a connection", R"re(\bsocket\.socket\s*\([^\n]*connect|\bctypes\.(?:cdll|CDLL|windll))re"},
    {code, "shell removes files", R"re(\brm\s+(?:-[a-z]+\s+)*-[a-z]*(?:r[a-z]*f|f[a-z]*r)[a-z]*\s+["']?[/~*$.])re"},
    {code, "shell runs a download", R"re(\b(?:curl|wget)\s[^\n|;]*\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b)re"},
    {code, "shell runs a download", R"re(\bbase64\s+(?:-d|-D|--decode)\b[^\n|]*\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b)re"},
    {code, "shell for others", R"re(/dev/tcp/[\w.]+/\d|\b(?:nc|ncat|netcat)\s[^\n]*\s-[a-z]*e\s|\bbash\s+-i\s*[>&])re"},
    {code, "shell reads secrets", R"re((?:[;|&`]|\$\()\s*(?:cat|less|head|tail|more)\s+/etc/(?:passwd|shadow))re"},
    {code, "shell substitutes",
     R"re(\$\(\s*(?:curl|wget|cat|id|whoami|uname|nc|bash|sh|rm|env|printenv)\b[^)\n]*\))re"},
    {code, "shell forks without end", R"re(:\s*\(\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;)re"},
    {code, "powershell hides",
     R"re(\bpowershell(?:\.exe)?\s+[^\n]*-(?:e|ec|enc|encodedcommand|w\s+hidden|windowstyle\s+hidden)\b)re"},
    {code, "powershell runs a download",
     R"re(\b(?:iex|invoke-expression)\b[^\n]*(?:downloadstring|invoke-webrequest|iwr)\b)re"},
};

}  // namespace

std::span<const InjectionRule> injection_rules() { return rules; }

}  // namespace stackgate::guardrail
