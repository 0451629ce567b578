# What the program shares with the sandbox: host-script.ts makes this module of archive-rules.ts and server-statements.ts.
from typing import Literal, TypedDict

_Described = TypedDict("_Described", {"pattern": str, "is": str, "advice": str})


class Kind(_Described, total=False):
    dump: Literal[True]
    spoiled: Literal[True]


class Inside(TypedDict):
    pattern: str
    says: str


class Astray(Inside):
    lacks: Literal["filestore", "manifest"]


class Rules(TypedDict):
    added: str
    added_or_folder: str
    kinds: list[Kind]
    inside: list[Inside]
    astray: list[Astray]
    methods: dict[str, str]
    sentences: dict[str, str]
    depth_max: int
    name_bytes_max: int


class ServerStatement(TypedDict):
    kind: str
    pattern: str


class StatementForms(TypedDict):
    name: str
    needless_quotes: str
    restrict: str
    cycle: str
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
    trigger_name: str
    made_of: str
    made_of_functions: str
    search_name: str
    index: str
    operator_class: str
    aggregate: str
    object: str
    about_object: list[str]
    about_trigger: str
    altered_trigger: str
    about: list[str]
    about_function: str
    trigger: str


class RequiredExtension(TypedDict):
    name: str
    pattern: str
    function: str


class FunctionHead(TypedDict):
    head: str
    attribute: str
    setting: str
    planner: str


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
REQUIRED_EXTENSIONS: list[RequiredExtension]
FUNCTION_HEAD: FunctionHead
LEAVING: Leaving
