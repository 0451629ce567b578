// What the parts of an instance's code may look like: URLs and refs of repositories, requirement lines, names of variables.

/**
 * `https` or `ssh` as the user git, with a path: no user or password, query or fragment, and nothing that a shell or a command
 * line of git could take for something else.
 */
export const REPOSITORY_URL =
  /^(?:https:\/\/|ssh:\/\/git@)[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(?::[0-9]{1,5})?(?:\/[A-Za-z0-9._~+%-]+)+$/;

/** A branch, a tag, or a commit. */
export const REF = /^[A-Za-z0-9_.][A-Za-z0-9_./+@#=-]{0,199}$/;
/** Refs that a host makes of other people's work, and what git itself forbids. */
const NO_REF = /^(?:refs|pull|merge-requests)\/|\.\.|\/\/|@\{|\.lock(?:\/|$)|(?:^|\/)\.|[./]$|^@$/;
export const isRef = (ref: string): boolean => REF.test(ref) && !NO_REF.test(ref);

const COMMIT = /^[0-9a-f]{40}$/;
export const isCommit = (ref: string): boolean => COMMIT.test(ref);

/** A folder in a repository: no part of it begins with a dot or a hyphen. */
export const REPOSITORY_PATH = /^[A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$/;

/** A package's name, with extras, and the versions that will do: no URL, path, option or marker. */
export const REQUIREMENT =
  /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\[[A-Za-z0-9._-]+(?:, ?[A-Za-z0-9._-]+)*\])? ?(?:===?|~=|!=|[<>]=?) ?[A-Za-z0-9.*+!_-]+(?: ?, ?(?:===?|~=|!=|[<>]=?) ?[A-Za-z0-9.*+!_-]+)*$/;

export const MODULE_NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

export const VARIABLE_NAME = /^[A-Z][A-Z0-9_]{0,99}$/;
/** What the image, its entry point or the service sets, and what makes programs load other code than the ERP's. */
const RESERVED_VARIABLES =
  /^(?:PATH|HOME|HOST|PORT|USER|PASSWORD|PASSWORD_FILE|LANG|SHELL|ENV|IFS|TMPDIR|(?:PG|POSTGRES_|DB_PORT_|DB_ENV_|PYTHON|LD_|LC_|BASH|ODOO_|GCONV_|GLIBC_|PIP_).*)$/;
export const isReservedVariable = (name: string): boolean => RESERVED_VARIABLES.test(name);

/** A shorter secret could not be kept out of logs: it would be found in ordinary words. */
export const SECRET_CHARACTERS_MIN = 6;

/** Names and values together, in UTF-8. */
export const ENVIRONMENT_BYTES_MAX = 16 * 1024;

/** Who or what began a deploy. */
export const DEPLOY_TRIGGERS = ["person", "token", "push", "bulk", "rollback"] as const;
