"""Formats of keys, tokens and passwords. A table without imports: processes short of time load no
more than this.
"""

#: separator between a name and its value
IS = r"['\"]?[ \t]{0,4}(?::=|=>|[=!]={1,2}|[:=])[ \t]{0,4}"
#: kind of secret → its pattern, as its issuer documents it
FORMATS = {
    "private key": (
        r"-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)? ?-{4,5}(?s:.*?)"
        r"(?:-{4,5} ?END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)? ?-{4,5}|\z)"
        r"|\bPuTTY-User-Key-File-[0-9]:(?s:.*?)(?:Private-MAC: *[0-9a-f]+|\z)"
    ),
    "AWS key": (
        r"\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"
        r"|(?i:aws[^\n]{0,20}(?:key|pwd|pw|password|pass|token)[^\n]{0,20})['\"][0-9A-Za-z/+]{40}['\"]"
    ),
    "GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})",
    "GitLab token": (
        r"\b(?:gl(?:pat|dt|ft|rt|soat|imt|agent|oas|ffct|ptt|cbt(?:-[0-9a-fA-F]{2}_)?)-|GR1348941)[A-Za-z0-9_-]{20,}"
    ),
    "Slack token": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    "Slack webhook": r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}",
    "Anthropic key": r"\bsk-ant-[A-Za-z0-9_-]{20,}",
    "OpenAI key": r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}",
    "Stripe key": r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",
    "Google key": r"\bAIza[A-Za-z0-9_-]{35}",
    "Google token": r"\bya29\.[A-Za-z0-9_-]{20,}",
    "npm token": r"\bnpm_[A-Za-z0-9]{36}\b",
    "PyPI token": r"\bpypi-AgE[A-Za-z0-9_-]{50,}",
    "Hugging Face token": r"\bhf_[A-Za-z0-9]{30,}",
    "SendGrid key": r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,}",
    "Twilio key": r"\b(?:SK|AC)[0-9a-z]{32}\b",
    "Telegram token": r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{33}\b",
    "Discord token": r"\b[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
    "DigitalOcean token": r"\bdo[opr]_v1_[a-f0-9]{64}\b",
    "Mailchimp key": r"\b[0-9a-f]{32}-us[0-9]{1,2}\b",
    "Square key": r"\bsq0(?:csp|atp|idp)-[0-9A-Za-z_\\-]{22,43}",
    "Artifactory key": r"\bAKC[A-Za-z0-9]{20,}|\bAP[0-9A-F][A-Za-z0-9]{30,}",
    "JSON web token": r"\beyJ[A-Za-z0-9_=-]{8,}\.eyJ[A-Za-z0-9_=-]{8,}(?:\.[A-Za-z0-9_=-]*)?",
    "storage key": r"(?i:AccountKey|SharedAccessKey)=[A-Za-z0-9+/=]{40,}",
    "password in an address": r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@'\"]{1,100}:[^\s/@'\"]{3,100}@",
    "password": (
        r"(?i:\b[A-Za-z0-9_-]*(?:(?:passwd|password|passphrase|api[_-]?key|access[_-]?key|private[_-]?key"
        r"|priv[_-]?key|client[_-]?key|service[_-]?key|account[_-]?key|auth[_-]?key|db[_-]?key|database[_-]?key"
        r"|auth[_-]?token|access[_-]?token|client[_-]?secret)[A-Za-z0-9_-]*|secret(?:s|[_-][A-Za-z0-9_-]*)?"
        r"|(?:db|database|key)[_-]?pass|\bpwd))"
        + IS
        + r"(?:\"[^\"\s]{8,}\"|'[^'\s]{8,}'|[A-Za-z0-9+/_.~!@#$%^&*-]{8,})"
        r"|(?i:\b[A-Za-z0-9_-]*(?:passwd|password|passphrase|secret))[ \t]{0,4}={1,3}[ \t]{0,4}"
        r"(?:\"[^\"\n]{8,}\"|'[^'\n]{8,}')"
    ),
    "key in an address": r"https?://api\.softlayer\.com/soap/v3(?:\.1)?/[a-z0-9]{64}",
}
