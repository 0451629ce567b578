// The modules whose tests must notice a change of any part of their code, and how far they do: `npm run mutate`.

export interface Module {
  title: string;
  /** What is changed, in one place at a time. */
  files: readonly string[];
  /** What must notice it. These tests call the module in their own process: the code of bundles is not changed. */
  tests: readonly string[];
}

export const modules = {
  limiter: {
    title: "Request limits",
    files: ["shared/data/slots.ts", "shared/records/rate-limits.ts"],
    tests: ["test/data/slots.alone.all.test.ts"],
  },
  authorizer: {
    title: "Authorizer",
    files: ["functions/authorize.ts", "shared/operations/credentials/admission.ts", "shared/runtime/jwt.ts"],
    tests: ["test/auth/authorizer.alone.test.ts"],
  },
  lifecycle: {
    title: "Lifecycle",
    files: ["shared/domain/lifecycle.ts"],
    tests: ["test/lifecycle.test.ts"],
  },
  pages: {
    title: "Pages and cursors",
    files: ["shared/data/pages.ts"],
    tests: ["test/data/pages.test.ts"],
  },
  lists: {
    title: "Lists of any length",
    files: ["shared/data/lists.ts"],
    tests: ["test/data/lists.alone.all.test.ts"],
  },
  idempotency: {
    title: "Idempotency",
    files: ["shared/runtime/idempotency.ts"],
    tests: ["test/runtime/idempotency.alone.test.ts"],
  },
  workflows: {
    title: "State machines of workflows",
    files: ["infra/workflow.ts", "shared/domain/workflow.ts"],
    tests: ["test/infra/workflow.test.ts"],
  },
  restore: {
    title: "The steps of a restore",
    files: ["functions/workflows/restore-backup/tasks.ts"],
    tests: ["test/workflows/restore-tasks.cloud.all.test.ts"],
  },
} as const satisfies Record<string, Module>;

export type ModuleName = keyof typeof modules;

/** The percentage of changes, other than those of texts and logs, that must be noticed. */
export const PERCENT_MIN = 85;
