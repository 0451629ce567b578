// The state of a form that edits a record. Fields that the user leaves alone follow the record and are not sent. What somebody
// else changes meanwhile is never overwritten unseen: the form sends the version that it began with, and shows the other changes
// beside the user's.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useLocation } from "react-router";
import { ClientError } from "../../../shared/api/client-of.ts";
import type { Question } from "../app/queries.ts";
import { queryClient } from "../app/query-client.ts";
import { isMissing } from "../app/words.ts";
import { draftOf } from "./drafts.ts";
import { changedIn, type Options, useDraft, useFields } from "./use-form.ts";

interface Versioned<Data> {
  data: Data;
  etag: string | undefined;
}

/** The values of a form by their labels. */
type InWords = Readonly<Record<string, string>>;

interface EditOptions<Data, Values, Body extends object, Result> extends Omit<Options<Values, Body, Result>, "initial" | "send"> {
  /** As the page has it. */
  record: Data;
  /** Asks for it again, with its version. */
  question: Question<Versioned<Data>>;
  values: (record: Data) => Values;
  shown: (values: Values) => InWords;
  /**
   * The fields make sense only together, so that each change of somebody else's is shown; otherwise only that of a field that
   * both have changed.
   */
  isWhole?: boolean;
  /** What the user's values become if they keep their changes, where both can be had. */
  merge?: (mine: Values, base: Values, theirs: Values) => Partial<Values>;
  send: (changed: Partial<Body>, version: { ifMatch?: string }, body: Body) => Promise<Result>;
  /** Called instead of `send` if the user has changed nothing. Without it, the form is sent as it is. */
  unchanged?: (() => void) | undefined;
}

/** A field that somebody else changed; `mine` only if the user has changed it, too. */
export interface ForeignChange {
  label: string;
  theirs: string;
  mine: string | undefined;
}

/** None while the user's own change is being saved: the record may already have it, and that is nobody else's. */
export interface Conflict {
  changes: readonly ForeignChange[];
  keep: () => void;
  discard: () => void;
}

/** What the record was like when the user began to change it. */
interface Base {
  values: object;
  etag?: string;
}

const baseOf = (values: object, etag: string | undefined): Base => ({ values, ...(etag !== undefined && { etag }) });

/** A change of other fields, such as of the status, moves the version as well. */
const TRIES_MAX = 5;

export function useEditForm<Data, Values extends object, Body extends object, Result>(
  options: EditOptions<Data, Values, Body, Result>,
) {
  const { record, question, values: valuesOf, shown, isWhole = false, merge, send, unchanged, done, body } = options;
  const latest = useQuery(question).data;
  const initial = valuesOf(latest?.data ?? record);
  const now = baseOf(initial, latest?.etag);
  const [base, setBase] = useBase(options.of);
  const start = { ...initial, ...base?.values };
  const { forget, reset, typed, ...form } = useFields({
    ...options,
    initial,
    send: async () =>
      sendVersioned(question, (base ?? now).etag, {
        accepts: (found) => !isConflict(foreignChanges(start, valuesOf(found))),
        send: async (found, etag) => {
          const present = found === undefined ? initial : valuesOf(found);
          const whole = body({ ...present, ...typed });
          return send(changedIn(whole, body(present)), versionAt(etag), whole);
        },
      }),
    done: (result: Result) => {
      forget();
      setBase(undefined);
      done(result);
    },
  });
  const isTouched = Object.keys(typed).length > 0;
  useEffect(() => {
    if (isTouched && base === undefined) setBase(now);
  });

  const foreignChanges = (since: Values, present: Values): ForeignChange[] =>
    changesBetween(shown(since), shown(present), shown({ ...present, ...typed }));
  const isConflict = (changes: readonly ForeignChange[]): boolean => changes.some(({ mine }) => isWhole || mine !== undefined);
  const changes = isTouched ? foreignChanges(start, initial) : [];
  const keep = (): void => {
    const merged = merge?.(form.values, start, initial);
    if (merged !== undefined) form.set(merged);
    setBase(now);
    reset();
  };
  const discard = (): void => {
    forget();
    setBase(undefined);
    reset();
  };
  const conflict: Conflict | undefined = !form.pending && isConflict(changes) ? { changes, keep, discard } : undefined;
  const mine = changedIn(body(form.values), body(initial));
  const isUnchanged = Object.keys(mine).length === 0;
  return {
    ...form,
    conflict,
    /** The conflict says what it is. */
    failure: conflict === undefined ? form.failure : undefined,
    /** As it would be sent now, for showing the call. */
    send: () => send(isUnchanged ? body(form.values) : mine, versionAt((base ?? now).etag), body(form.values)),
    submit: (isUnchanged ? unchanged : undefined) ?? form.submit,
  };
}

/** What somebody else has changed since `before`, beside what the user's own change makes of it. */
const changesBetween = (before: InWords, theirs: InWords, mine: InWords): ForeignChange[] =>
  Object.entries(theirs)
    .filter(([label, value]) => before[label] !== value)
    .map(([label, value]) => ({ label, theirs: value, mine: mine[label] === value ? undefined : mine[label] }));

const versionAt = (etag: string | undefined) => (etag === undefined ? {} : { ifMatch: etag });

const OVERTAKEN = "PRECONDITION_FAILED";
const isOvertaken = (error: unknown): boolean => error instanceof ClientError && error.code === OVERTAKEN;

interface Attempt<Data, Result> {
  /** Whether the user's changes can be made to a version of the record that they have not seen. */
  accepts: (record: Data) => boolean;
  /** Without a record: made to what the user has seen. */
  send: (record: Data | undefined, etag: string | undefined) => Promise<Result>;
}

/** Sends a change of the version that the user has seen, or of a later one in which somebody else has changed other fields. */
async function sendVersioned<Data, Result>(
  question: Question<Versioned<Data>>,
  seen: string | undefined,
  { accepts, send }: Attempt<Data, Result>,
): Promise<Result> {
  let version: Partial<Versioned<Data>> = seen === undefined ? await latestOf(question, accepts) : { etag: seen };
  for (let tries = 1; ; tries++) {
    try {
      return await send(version.data, version.etag);
    } catch (error) {
      if (!isOvertaken(error) || tries === TRIES_MAX) throw error;
      version = await latestOf(question, accepts);
    }
  }
}

/** An older service cannot show every record that it changes. */
const cannotShow = (error: unknown): boolean => error instanceof ClientError && error.code === "METHOD_NOT_ALLOWED";

/** As it is now; empty if it does not exist yet, or no version of it is known. */
async function latestOf<Data>(
  question: Question<Versioned<Data>>,
  accepts: (record: Data) => boolean,
): Promise<Partial<Versioned<Data>>> {
  const found = await queryClient.fetchQuery({ ...question, staleTime: 0 }).catch((error: unknown) => {
    if (isMissing(error) || cannotShow(error)) return undefined;
    throw error;
  });
  if (found !== undefined && !accepts(found.data)) throw new ClientError(OVERTAKEN, "Somebody else has changed the same field");
  return found ?? {};
}

/** Kept with the form's own draft. */
function useBase(of: string | undefined): [Base | undefined, (base: Base | undefined) => void] {
  const key = `${useLocation().pathname} ${of ?? ""} base`;
  const [base, setBase] = useState(() => baseIn(draftOf(key)));
  useDraft(key, base ?? {});
  return [base, setBase];
}

function baseIn(draft: object): Base | undefined {
  if (!("values" in draft) || typeof draft.values !== "object" || draft.values === null) return undefined;
  return { values: draft.values, ...("etag" in draft && typeof draft.etag === "string" && { etag: draft.etag }) };
}
