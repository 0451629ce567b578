# What the program shares with the sandbox: host-script.ts makes this module of archive-rules.ts and server-statements.ts.
from typing import Literal, TypedDict

_Described = TypedDict("_Described", {"pattern": str, "is": str, "advice": str})


class Kind(_Described, total=False):
    dump: Literal[True]
    spoiled: Literal[True]


class Inside(TypedDict):
    pattern: str
    says: str


class Rules(TypedDict):
    added: str
    kinds: list[Kind]
    inside: list[Inside]
    methods: dict[str, str]
    sentences: dict[str, str]
    depth_max: int
    name_bytes_max: int


class ServerStatement(TypedDict):
    kind: str
    pattern: str


class StatementForms(TypedDict):
    name: str
    rows: str
    position: str
    extension: str
    language: str
    function: str
    setting: str
    public_schema: str
    removal: str
    relation: str
    identity: str
    policy: str
    view: str
    about: list[str]
    about_function: str
    trigger: str


class Leaving(TypedDict):
    body: str
    about: str
    copy: str
    file: str
    command: str
    language: str
    table: str
    call: str


RULES: Rules
SERVER_STATEMENTS: list[ServerStatement]
LANGUAGES: list[str]
SETTINGS: list[str]
STATEMENT_FORMS: StatementForms
LEAVING: Leaving
