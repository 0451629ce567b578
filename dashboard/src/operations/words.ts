// The words for each type of operation: in progress, completed and failed; and its results.
import type { Actor } from "../../../shared/api/fields.ts";
import type { Operation, OperationResult } from "../../../shared/api/operations.ts";
import { spanInWords } from "../app/words.ts";
import type { Messages } from "../messages/en/index.ts";
import { text } from "../messages/text.ts";

type Words = ReturnType<Messages["operations"]["unknownWork"]>;

/** What another try needs to know. */
export type Failed = Pick<Operation, "type" | "status" | "resource" | "instance_id" | "result">;

/** A newer service may know more types of operations than this page. */
export function workOf(type: string): Words {
  const words: Readonly<Record<string, Words>> = text.operations.work;
  return words[type] ?? text.operations.unknownWork(type);
}

/** Users and API keys have names of their own, and parts of the service have English ones. */
export function actorInWords({ type, name }: Pick<Actor, "type" | "name">): string {
  if (type === "user" || type === "token") return name;
  const words: Readonly<Record<string, string>> = text.operations.service;
  return words[name] ?? name;
}

/** Returns the time from the request to the end, in words. */
export const durationInWords = ({ created_at, finished_at }: Pick<Operation, "created_at" | "finished_at">): string =>
  finished_at === null ? "–" : spanInWords((Date.parse(finished_at) - Date.parse(created_at)) / 1000);

/** The results of verifying a clone. */
export function verificationInWords(verification: NonNullable<OperationResult["verification"]>): string {
  const { is_neutralized, active_crons, active_mail_servers, new_database_uuid, base_url } = verification;
  const say = text.operations.verification;
  return [
    is_neutralized ? say.neutralized : say.notNeutralized,
    say.crons(active_crons),
    say.mailServers(active_mail_servers),
    new_database_uuid ? say.newUuid : say.sameUuid,
    say.address(base_url),
  ].join(", ");
}
