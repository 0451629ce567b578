// The ERP's code: repositories with add-ons, Python packages and environment variables of an instance. An instance without code
// has the empty one.
import * as z from "zod";
import {
  ENVIRONMENT_BYTES_MAX,
  isRef,
  isReservedVariable,
  MODULE_NAME,
  REF,
  REPOSITORY_PATH,
  REPOSITORY_URL,
  REQUIREMENT,
  SECRET_CHARACTERS_MIN,
  VARIABLE_NAME,
} from "../domain/code-rules.ts";
import { asciiUrl } from "../domain/international.ts";
import { CODE, PUSH } from "../domain/limits.ts";
import { endpoint } from "./endpoint.ts";
import {
  codeInCheck,
  erpNotInstalled,
  instanceBeingDeleted,
  serverNotActive,
  tooManyPushes,
  tooManyRepositories,
} from "./errors.ts";
import * as fields from "./fields.ts";
import { exampleId } from "../domain/id-kinds.ts";
import { Operation } from "./operations.ts";

const URL_EXAMPLE = "https://git.example/acme";
const COMMIT_EXAMPLE = "8f3c1d5e7a90b24c6d8e0f1a2b3c4d5e6f708192";

/** The pattern of a URL with a host in any script: the rule holds for its ASCII form. */
const URL_PATTERN = REPOSITORY_URL.source.replace(
  "[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?",
  "[^\\x00-\\x2c/:-@\\x5b-`{-\\x7f]+",
);

const url = z
  .string()
  .overwrite(asciiUrl) // first: what the rules hold for is what is stored
  .max(500, "must have at most 500 characters")
  .regex(REPOSITORY_URL, "must be https://HOST/PATH or ssh://git@HOST/PATH")
  .meta({
    description:
      "`https://HOST/PATH` or `ssh://git@HOST/PATH`, of a public host, without a user name or password. The host may be international (`git.müller.example`): its ASCII form is stored and shown. In `test`, repositories are names below `https://git.example/`",
    examples: [URL_EXAMPLE],
    pattern: URL_PATTERN,
    maxLength: 500,
  });

const ref = z
  .string()
  .max(200, "must have at most 200 characters")
  .refine(isRef, "must be a branch, a tag or a commit of 40 hexadecimal digits")
  .meta({
    description: "A branch, a tag, or a commit of 40 hexadecimal digits",
    examples: ["main"],
    pattern: REF.source,
    maxLength: 200,
  });

const path = z
  .string()
  .max(200, "must have at most 200 characters")
  .regex(REPOSITORY_PATH, "must be a folder in the repository such as addons/sale")
  .nullable()
  .default(null)
  .meta({ description: "The folder with the modules; null: the repository's own", examples: [null] });

const DEPLOY_KEY = "deploy_key";
const username = z
  .string()
  .regex(/^[A-Za-z0-9._@+-]{1,100}$/, "must be a user name of up to 100 letters, digits and . _ @ + -")
  .meta({ examples: ["deploy"], maxLength: 100 });
const token = z
  .string()
  .min(SECRET_CHARACTERS_MIN, `must have at least ${SECRET_CHARACTERS_MIN} characters`)
  .regex(/^[!-~]{1,1000}$/, "must be up to 1000 printable ASCII characters without spaces")
  .meta({ examples: ["glpat-2f8c1d"], maxLength: 1000 });

const credential = z
  .union(
    [
      z.literal(DEPLOY_KEY),
      z.strictObject({
        username,
        token: token.optional().meta({ description: "Never shown. If you leave it out, it stays, as long as `url` does" }),
      }),
    ],
    "must be deploy_key, or an object with username and token",
  )
  .nullable()
  .default(null)
  .meta({
    description:
      "How the repository is read: with `ssh`, `deploy_key` for the key that `deploy_key` shows; with `https`, null for a public one, or a user name with a token",
    examples: [null],
  });

const Repository = z.strictObject({ url, ref, path, credential });
export type RepositoryInput = z.output<typeof Repository>;

const packages = z
  .array(
    z
      .string()
      .max(200, "must have at most 200 characters")
      .regex(REQUIREMENT, "must be a package with its versions such as num2words==0.5.13 or phonenumbers>=8.13,<9")
      .meta({ examples: ["num2words==0.5.13"], maxLength: 200 }),
  )
  .max(CODE.packagesMax, `must have at most ${CODE.packagesMax} entries`)
  .meta({ description: "Python packages with their versions, as in a requirements file", examples: [[]] });

const modules = z
  .array(
    z
      .string()
      .regex(MODULE_NAME, "must be the name of a module")
      .meta({ examples: ["acme"], maxLength: 64 }),
  )
  .max(CODE.modulesMax, `must have at most ${CODE.modulesMax} entries`)
  .refine((names) => new Set(names).size === names.length, "must not contain duplicates")
  .meta({ description: "Modules that the next deploy installs, unless they are installed", examples: [["acme"]] });

const variableName = z
  .string()
  .regex(VARIABLE_NAME, "must be a name of up to 100 capital letters, digits and underscores")
  .refine((name) => !isReservedVariable(name), "is set by the service or the ERP's image")
  .meta({ examples: ["CARRIER_URL"], maxLength: 100 });
/** Control characters but the tab, and what is no character at all. */
const NO_TEXT = "\\x00-\\x08\\x0a-\\x1f\\x7f-\\x9f\ufffe\uffff";
const VARIABLE_VALUE = new RegExp(`^[^${NO_TEXT}]*$`);
const variableValue = z
  .string()
  .regex(VARIABLE_VALUE, "must not contain control characters")
  .max(ENVIRONMENT_BYTES_MAX, `must have at most ${ENVIRONMENT_BYTES_MAX} characters`);

const Variable = z
  .strictObject({
    name: variableName,
    value: variableValue
      .optional()
      .meta({ description: "Shown to whoever may read the instance", examples: ["https://example.com"] }),
    secret: variableValue
      .min(SECRET_CHARACTERS_MIN, `must have at least ${SECRET_CHARACTERS_MIN} characters`)
      .optional()
      .meta({
        description: "Never shown. If you leave both out, the variable keeps the secret that it has",
        examples: ["c4r-5ecret"],
      }),
  })
  .refine(({ value, secret }) => value === undefined || secret === undefined, {
    message: "must not be combined with value",
    path: ["secret"],
  });
export type VariableInput = z.output<typeof Variable>;

const environment = z
  .array(Variable)
  .max(CODE.variablesMax, `must have at most ${CODE.variablesMax} entries`)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, "must not contain duplicates")
  .meta({
    description: `Environment variables of the ERP, at most ${ENVIRONMENT_BYTES_MAX} bytes of names and values together`,
    examples: [[]],
  });

const autoDeploy = z.enum(["off", "push"]).meta({
  description: "With `push`, a call of the deploy hook deploys what has changed in the repositories",
  examples: ["off"],
});

const follow = z.enum(["pinned", "newest"]).meta({
  description: "With `newest`, every deploy brings the newest image of the version, as with `update_image`",
  examples: ["pinned"],
});

const DeployKey = z.object({
  public_key: z.string().meta({
    description: "One line, to be added to the repository as a key that may read",
    examples: ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPr5c7mS1eKzUd0yYH1V7o9lD8bC0Jt2XnZxqk3GzWlM deploy"],
  }),
  fingerprint: z.string().meta({ examples: ["SHA256:uNiVztksCsDhcc0u9e8BgrJXVGDUjdmHKdyOdLpEpyM"] }),
});
export type DeployKey = z.infer<typeof DeployKey>;

const ShownRepository = z.object({
  url: url.meta({ examples: [URL_EXAMPLE] }),
  ref: z.string().meta({ examples: ["main"] }),
  path: z
    .string()
    .nullable()
    .meta({ examples: [null] }),
  credential: z
    .union([z.literal(DEPLOY_KEY), z.object({ username: z.string().meta({ examples: ["deploy"] }) })])
    .nullable()
    .meta({ examples: [null] }),
  commit: z
    .string()
    .nullable()
    .meta({ description: "The commit that was last deployed", examples: [COMMIT_EXAMPLE] }),
  newest_commit: z
    .string()
    .nullable()
    .meta({ description: "The commit that the ref was when it was last checked", examples: [COMMIT_EXAMPLE] }),
  checked_at: fields.timestamp.nullable(),
  problem: z
    .object({
      message: z.string().meta({ examples: ["The repository https://git.example/acme could not be read: it takes too long"] }),
      reason: fields.reason,
    })
    .nullable()
    .meta({ description: "Why the last check could not look up the ref; null if it could", examples: [null] }),
  host_key: z
    .string()
    .nullable()
    .meta({
      description:
        "Of an ssh repository: the fingerprint of the key that the server knows its host by, as of the last check. Compare it with what the host publishes",
      examples: [null],
    }),
  deploy_key: DeployKey.nullable().meta({
    description:
      "With `credential: deploy_key`: the key's public half. The service makes one for each repository in the account, so that all instances share it",
    examples: [null],
  }),
});

export const Code = z
  .object({
    repositories: z.array(ShownRepository),
    python_packages: z.array(z.string()).meta({ examples: [["num2words==0.5.13"]] }),
    allow_source_builds: z.boolean().meta({ examples: [false] }),
    install_modules: z.array(z.string()).meta({ examples: [["acme"]] }),
    environment: z
      .array(
        z.object({
          name: z.string().meta({ examples: ["CARRIER_URL"] }),
          value: z
            .string()
            .optional()
            .meta({ examples: ["https://example.com"] }),
        }),
      )
      .meta({ description: "A variable without `value` has a secret" }),
    auto_deploy: autoDeploy,
    hook: z
      .object({
        last4: z.string().meta({ description: "The last characters of its URL", examples: ["k7Qw"] }),
        last_used_at: fields.timestamp.nullable().meta({ examples: [null] }),
      })
      .nullable()
      .meta({ description: "The deploy hook; null if there is none. Its URL is shown only when it is made" }),
    image: z
      .object({
        follow,
        version: z.string().meta({ examples: ["19.0"] }),
        id: z
          .string()
          .nullable()
          .meta({
            description: "As Docker on the server calls it; null until the server has reported it",
            examples: [`sha256:${"9f86d081884c7d65".repeat(4)}`],
          }),
        created_at: fields.timestamp.nullable(),
        newest_created_at: fields.timestamp
          .nullable()
          .meta({ description: "Of the newest image of that version; null until it has been looked up" }),
        update_available: z
          .boolean()
          .nullable()
          .meta({ examples: [false] }),
      })
      .meta({ description: "The image of the ERP" }),
    updated_at: fields.timestamp.nullable().meta({ description: "When the code was last set; null before that" }),
  })
  .meta({ id: "Code" });
/** What changes on its own, or by a request of its own. */
export const CODE_UNVERSIONED = ["hook", "image"];
export type Code = z.infer<typeof Code>;

/** What a client sets. */
export const CodeFields = fields.atLeastOne({
  repositories: z
    .array(Repository)
    .max(CODE.repositoriesMax, `must have at most ${CODE.repositoriesMax} entries`)
    .refine(
      (all) => new Set(all.map(({ url: of, path: at }) => `${of} ${at}`)).size === all.length,
      "must not contain duplicates",
    )
    .meta({
      description:
        "Repositories with add-ons. Of modules with the same name, that of the first repository counts. " +
        `By default at most ${CODE.repositories}; the operator can change that for an account`,
      examples: [[{ url: URL_EXAMPLE, ref: "main" }]],
    })
    .optional(),
  python_packages: packages.optional(),
  allow_source_builds: z
    .boolean()
    .optional()
    .meta({ description: "Whether packages may be built from source; otherwise only wheels are installed", examples: [false] }),
  install_modules: modules.optional(),
  environment: environment.optional(),
  auto_deploy: autoDeploy.optional(),
  image: z
    .strictObject({ follow })
    .optional()
    .meta({ examples: [{ follow: "pinned" }] }),
});
export type CodeFields = z.output<typeof CodeFields>;

export const get = () =>
  endpoint({
    method: "GET",
    path: "/instances/:id/code",
    summary: "Show an instance's code",
    description:
      "Strongly consistent. An instance without code of its own has the empty one. Tokens and secrets are never shown.",
    access: ["instances:read"],
    unversioned: CODE_UNVERSIONED,
    data: Code,
  });

export const update = () =>
  endpoint({
    method: "PUT",
    path: "/instances/:id/code",
    summary: "Set an instance's code",
    description:
      "Replaces the fields that you send, and only stores them: nothing runs until a deploy. Whoever can set the code of an ERP can read all of its data, " +
      "so this needs `instances:write` and `backups:restore`.",
    access: ["instances:write", "backups:restore"],
    unversioned: CODE_UNVERSIONED,
    errors: () => [instanceBeingDeleted("deleting"), tooManyRepositories(CODE.repositories)],
    body: CodeFields,
    data: Code,
  });

export const check = () =>
  endpoint({
    method: "POST",
    path: "/instances/:id/code/check",
    summary: "Check an instance's code",
    description:
      "Looks up the newest commits, fetches them on the server and checks their modules, without running or deploying anything. The operation holds nothing, " +
      "and succeeds whatever it finds: its `result.code` has the commits and the problems.",
    access: ["instances:write"],
    status: 202,
    errors: () => [
      codeInCheck(exampleId("operation")),
      serverNotActive(exampleId("server"), "offline"),
      erpNotInstalled("failed"),
    ],
    starts: ["check-code-instance"],
    fieldPermission: { field: "trust_new_host_keys", permission: "backups:restore" },
    body: z.strictObject({
      trust_new_host_keys: z
        .boolean()
        .optional()
        .meta({
          description:
            "Whether the keys that hosts of ssh repositories have shown before are forgotten first, so that new ones are taken. Needs the permission `backups:restore`",
          examples: [false],
        }),
    }),
    data: Operation,
  });

export const rotateHook = () =>
  endpoint({
    method: "POST",
    path: "/instances/:id/code/rotate-hook",
    summary: "Make an instance's deploy hook anew",
    description:
      "Only this response contains the URL, which a repository's host or a CI system calls after a push. An earlier URL stops working. " +
      '`{"enabled": false}` removes the hook. The hook deploys only with `auto_deploy: push`.',
    access: ["instances:write", "backups:restore"],
    errors: () => [instanceBeingDeleted("deleting")],
    body: z.strictObject({
      enabled: z
        .boolean()
        .default(true)
        .meta({ description: "Whether there is a hook from now on", examples: [true] }),
    }),
    data: z.object({
      hook_url: z
        .string()
        .nullable()
        .meta({
          description: "Keep it secret: who has it can deploy. Null if the hook was removed",
          examples: ["https://hosting.example.com/api/v1/hooks/deploys/mJ2vT0c8hX4qLr9aWbY6nE3sK7Qw"],
        }),
    }),
  });

export const push = () =>
  endpoint({
    method: "POST",
    path: "/hooks/deploys/:secret",
    summary: "Tell of a push",
    description:
      "The deploy hook of an instance, for a repository's host. The secret in the URL is the credential. The body is not read, and the response is the same for a secret " +
      "that there is not. Within a minute the instance's code is checked, and deployed if a ref has another commit than the deployed one. If something else holds the " +
      `instance, this is tried for ${PUSH.triedMinutes} minutes.`,
    access: "public",
    status: 202,
    errors: () => [tooManyPushes()],
    body: z.looseObject({}),
    unreadBytes: PUSH.bodyBytes,
    data: z.object({ accepted: z.literal(true).meta({ examples: [true] }) }),
  });
