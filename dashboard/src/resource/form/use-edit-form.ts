// The state of a form that edits a record. Fields that the user leaves alone follow the record and are not sent. What somebody
// else changes meanwhile is never overwritten unseen: the form sends the version that it began with, and shows the other changes
// beside the user's.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useLocation } from "react-router";
import { ClientError } from "../../../../shared/api/client-of.ts";
import type { Question } from "../../app/queries.ts";
import { queryClient } from "../../app/query-client.ts";
import { isMissing } from "../../app/words.ts";
import { draftOf } from "./drafts.ts";
import { changedIn, type Options, useDraft, useFields } from "./use-form.ts";

interface Versioned<Data> {
  data: Data;
  etag: string | undefined;
}

/** What must be true of the record when the change is made; nothing if an older service shows no version of it. */
interface Precondition {
  ifMatch?: string;
  ifNoneMatch?: "*";
}

/** The values of a form by their labels. */
type InWords = Readonly<Record<string, string>>;

interface EditOptions<Data, Values, Body extends object, Result> extends Omit<Options<Values, Body, Result>, "initial" | "send"> {
  /** The record as the page has it. */
  record: Data;
  /** Asks for it again, with its version. */
  question: Question<Versioned<Data>>;
  values: (record: Data) => Values;
  describe: (values: Values) => InWords;
  /**
   * The fields make sense only together, so that each change of somebody else's is shown; otherwise only that of a field that
   * both have changed.
   */
  isWhole?: boolean;
  /** The form also creates the record where there is none, of all its fields. */
  creates?: boolean;
  /** What the user's values become if they keep their changes, where both can be had. */
  merge?: (userValues: Values, base: Values, currentValues: Values) => Partial<Values>;
  send: (changed: Partial<Body>, precondition: Precondition, body: Body) => Promise<Result>;
  /** Called instead of `send` if the user has changed nothing. Without it, the form is sent as it is. */
  unchanged?: (() => void) | undefined;
}

/** A field that somebody else changed; `userValue` only if the user has changed it, too. */
export interface ForeignChange {
  label: string;
  currentValue: string;
  userValue: string | undefined;
}

/** None while the user's own change is being saved: the record may already have it, and that is nobody else's. */
export interface Conflict {
  /** Somebody else has deleted the record. */
  isDeleted: boolean;
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
  const { question, values: valuesOf, describe, isWhole = false, merge, send, unchanged, done, body } = options;
  const { isNone, isDeleted, initial, now, base, setBase } = useRecord(options);
  const start = { ...initial, ...base?.values };
  const { forget, reset, typed, ...form } = useFields({
    ...options,
    initial,
    send: async () =>
      sendVersioned(question, (base ?? now).etag, {
        accepts: (record) => !isConflict(foreignChanges(start, valuesOf(record))),
        send: async ({ data, precondition }) => {
          const current = data === undefined ? initial : valuesOf(data);
          const completeBody = body({ ...current, ...typed });
          return send(changedIn(completeBody, body(current)), precondition, completeBody);
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

  const foreignChanges = (since: Values, current: Values): ForeignChange[] =>
    changesBetween(describe(since), describe(current), describe({ ...current, ...typed }));
  const isConflict = (changes: readonly ForeignChange[]) => changes.some(({ userValue }) => isWhole || userValue !== undefined);
  const changes = isTouched ? foreignChanges(start, initial) : [];
  const keep = (): void => {
    // What is created anew is all that the form shows, not only what the user has changed of it.
    const merged = isDeleted ? form.values : merge?.(form.values, start, initial);
    if (merged !== undefined) form.set(merged);
    setBase(now);
    reset();
  };
  const discard = (): void => {
    forget();
    setBase(undefined);
    reset();
  };
  const isContested = !form.pending && (isDeleted || isConflict(changes));
  const conflict: Conflict | undefined = isContested ? { isDeleted, changes, keep, discard } : undefined;
  const userChanges = changedIn(body(form.values), body(initial));
  const isUnchanged = Object.keys(userChanges).length === 0;
  return {
    ...form,
    reset,
    conflict,
    /** The conflict says what it is. */
    failure: conflict === undefined ? form.failure : undefined,
    /** The request as it would be sent now, for showing the call. */
    send: () => send(isUnchanged ? body(form.values) : userChanges, versionAt((base ?? now).etag, isNone), body(form.values)),
    submit: (isUnchanged ? unchanged : undefined) ?? form.submit,
  };
}

type RecordOptions<Data, Values> = Pick<
  EditOptions<Data, Values, object, unknown>,
  "record" | "question" | "values" | "creates" | "of"
>;

/** The record as it is now, and what it was like when the user began to change it. */
function useRecord<Data, Values extends object>({ record, question, values, creates = false, of }: RecordOptions<Data, Values>) {
  const { data, error } = useQuery(question);
  const isNone = isMissing(error);
  const latest = isNone ? undefined : data; // the cache keeps one that was deleted
  const [base, setBase] = useBase(of);
  const isDeleted = creates && isNone && base?.etag !== undefined;
  const current = values(latest?.data ?? record);
  // Until the user has decided what becomes of their changes, the fields beside these stay as they were.
  const initial: Values = { ...current, ...(isDeleted && base.values) };
  return { isNone, isDeleted, initial, now: baseOf(current, latest?.etag), base, setBase };
}

/** What somebody else has changed since `before`, beside what the user's own change makes of it. */
const changesBetween = (before: InWords, current: InWords, userValues: InWords): ForeignChange[] =>
  Object.entries(current)
    .filter(([label, value]) => before[label] !== value)
    .map(([label, value]) => ({
      label,
      currentValue: value,
      userValue: userValues[label] === value ? undefined : userValues[label],
    }));

const versionAt = (etag: string | undefined, isNone = false): Precondition =>
  etag !== undefined ? { ifMatch: etag } : isNone ? { ifNoneMatch: "*" } : {};

const OVERTAKEN = "PRECONDITION_FAILED";
const isOvertaken = (error: unknown): boolean => error instanceof ClientError && error.code === OVERTAKEN;

/** What a change is made to; without a record, to what the user has seen. */
interface Target<Data> {
  data?: Data;
  precondition: Precondition;
}

interface Attempt<Data, Result> {
  /** Whether the user's changes can be made to a version of the record that they have not seen. */
  accepts: (record: Data) => boolean;
  send: (target: Target<Data>) => Promise<Result>;
}

/** Sends a change of the version that the user has seen, or of a later one in which somebody else has changed other fields. */
async function sendVersioned<Data, Result>(
  question: Question<Versioned<Data>>,
  seenEtag: string | undefined,
  { accepts, send }: Attempt<Data, Result>,
): Promise<Result> {
  let target: Target<Data> = seenEtag === undefined ? await latestOf(question, accepts) : { precondition: versionAt(seenEtag) };
  for (let tries = 1; ; tries++) {
    try {
      return await send(target);
    } catch (error) {
      if (!isOvertaken(error) || tries === TRIES_MAX) throw error;
      target = await latestOf(question, accepts, target.precondition);
    }
  }
}

/** An older service cannot show every record that it changes. */
const cannotShow = (error: unknown): boolean => error instanceof ClientError && error.code === "METHOD_NOT_ALLOWED";

/** Fetches the record as it is now. What was there before and is gone stays an error: nothing is created anew unseen. */
async function latestOf<Data>(
  question: Question<Versioned<Data>>,
  accepts: (record: Data) => boolean,
  before: Precondition = {},
): Promise<Target<Data>> {
  try {
    const { data, etag } = await queryClient.fetchQuery({ ...question, staleTime: 0 });
    if (accepts(data)) return { data, precondition: versionAt(etag) };
  } catch (error) {
    if (isMissing(error) && before.ifMatch === undefined) return { precondition: versionAt(undefined, true) };
    if (cannotShow(error)) return { precondition: {} };
    throw error;
  }
  throw new ClientError(OVERTAKEN, "Somebody else has changed the same field");
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
