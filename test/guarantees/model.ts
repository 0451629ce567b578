// What the model of the API knows, and what its commands share.
import type { AsyncCommand, Scheduler } from "fast-check";
import { expect } from "vitest";
import * as z from "zod";
import type { ResourceType, State } from "../../shared/domain/lifecycle.ts";
import type { Client } from "../harness/client.ts";
import { published, type WorkflowHarness } from "../workflows/harness.ts";

/** What the model knows of one resource. */
export interface Known {
  kind: ResourceType;
  id: string;
  state: State | "gone";
  /** An instance's ERP; a creation that failed leaves none. */
  installed: boolean;
  /** The server of an instance, the instance of a backup. */
  parent: Known | undefined;
  /** The value of its label `model`. */
  label?: string | undefined;
  /** A backup that is not deleted. */
  locked?: boolean;
  /** The schedule of an instance's policy. */
  schedule?: string;
}

/** What has no work and no state: it is there, or it is gone. */
export interface Credential {
  kind: "ssh-keys" | "tokens";
  id: string;
  /** A token's. */
  value?: string;
  isGone: boolean;
}

export interface Model {
  all: Known[];
  credentials: Credential[];
  retentionDays: number | undefined;
  /** The request that failed last, to be sent again. */
  again?: (fails: boolean) => Promise<void>;
  /** What can be imported. */
  archive: Uint8Array;
}

export interface Real {
  harness: WorkflowHarness;
  scheduler: Scheduler;
  /** A client whose limits have room. */
  api: () => Promise<Client>;
  /** A session, which alone may make and revoke tokens. */
  session: () => Promise<Client>;
  reached: (transition: string) => void;
}

export type Command = AsyncCommand<Model, Real>;

export const Begun = z.looseObject({ id: z.string(), operation_id: z.string().nullish() });

/** A line of its own in the report of a counterexample. */
export const curl = (method: string, path: string, body?: unknown): string =>
  `\ncurl -s -X ${method} "$API${path}" -H "$AUTH"${body === undefined ? "" : ` -H 'Content-Type: application/json' -d "${JSON.stringify(body).replaceAll('"', '\\"')}"`}`;

export const variable = (kind: ResourceType, index: number): string => `$${kind.toUpperCase()}_${index}`;

/** The target is chosen among those of its kind, by a number that means the same while a counterexample is shrunk. */
export const targetOf = ({ all }: Model, kind: ResourceType, index: number): Known | undefined => {
  const those = all.filter((each) => each.kind === kind);
  return those[index % Math.max(1, those.length)];
};

const Shown = z.looseObject({ status: z.string(), operation_id: z.string().nullable() });

export async function expectShown({ api }: Real, record: Known): Promise<void> {
  const response = await (await api()).get(`/${record.kind}s/${record.id}`);
  if (record.state === "gone") return expect(response.status).toBe(404);
  expect(response.as(Shown)).toMatchObject({ status: published(record.state), operation_id: null });
}
