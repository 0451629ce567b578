// The state of a form: its values, its errors by the API's schema, and sending them so that a repetition takes effect once.
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useLocation } from "react-router";
import type * as z from "zod";
import { parse } from "../../../../shared/api/parse.ts";
import { beforeReload } from "../../app/reload.ts";
import { recognized } from "../../app/recognized.ts";
import { problemsOf } from "../../app/words.ts";
import { text } from "../../messages/text.ts";
import { session, subscribe } from "../../session/session.ts";
import { draftOf, removeDraft, endedByItself, saveDraft, storeDrafts } from "./drafts.ts";

export interface Options<Values, Body, Result> {
  /** What the form shows before the user changes it. */
  initial: Values;
  /** The endpoint's body schema, so that errors appear before the API is called. */
  schema: z.ZodType;
  /** The body, built from the form's values. */
  body: (values: Values) => Body;
  send: (body: Body, idempotencyKey: string) => Promise<Result>;
  done: (result: Result) => void;
  /** Distinguishes the forms of one page: the record of a dialog. */
  of?: string;
}

export interface TextBinding {
  value: string;
  error: string | undefined;
  onChange: (value: string) => void;
}

/** A form that creates something, or starts work: it sends all its values. */
export function useForm<Values extends object, Body, Result>({ initial, ...options }: Options<Values, Body, Result>) {
  const [first] = useState(initial);
  return useFields({ ...options, initial: first });
}

export function changedIn<Body extends object>(after: Body, before: Body): Partial<Body> {
  const changed: Partial<Body> = { ...after };
  for (const field in after) if (JSON.stringify(after[field]) === JSON.stringify(before[field])) delete changed[field];
  return changed;
}

/** The same for a form whose initial values may change. */
export function useFields<Values extends object, Body, Result>({
  initial,
  schema,
  body,
  send,
  done,
  of = "",
}: Options<Values, Body, Result>) {
  const draft = `${useLocation().pathname} ${of} ${Object.keys(initial).join()}`;
  const { typed, changed, change, noteSent, forget } = useTyped(draft);
  const values = { ...initial, ...typed };
  const sendFilled = useSend(body, send);
  const mutation = useMutation({
    mutationFn: async (filled: Values) => {
      parse(schema, filledIn(body(filled)));
      return sendFilled(filled);
    },
  });
  const [form, fields] = [useRef<HTMLFormElement>(null), problemsOf(mutation.error)];
  const sent = mutation.variables && body(mutation.variables);
  useFocusOnProblem(form, mutation.error);

  const remaining = (field: string) => (changed.has(field) ? [] : fields);
  const error = (field: string): string | undefined => problemOfField(remaining(field), field, sent);
  const set: (changes: Partial<Values>, as?: string) => void = change;

  return {
    ref: form,
    values,
    set,
    error,
    /** Returns the error of a field without those of its parts, which have fields of their own. */
    ownError: (field: string) => problemOfField(remaining(field).filter(isOf(field)), field),
    /** Binds a text field: `<TextField label="Name" {...form.text("name")} />`. */
    text: (field: keyof Values & string, as: string = field): TextBinding => ({
      value: String(values[field]),
      error: error(as),
      onChange: (value) => change({ [field]: value }, as),
    }),
    /** The error that belongs to no field. */
    failure: mutation.error !== null && fields.length === 0 ? mutation.error : undefined,
    pending: mutation.isPending,
    /** Nothing changed since it was sent, so it may be sent again automatically. */
    unchanged: changed.size === 0,
    /** Sends the values as they are, unchecked. */
    send: () => sendFilled(values),
    submit: () => {
      if (mutation.isPending) return;
      noteSent();
      // Passed to the call, not to the mutation: if the user has left the page, nothing may navigate.
      mutation.mutate(values, { onSuccess: done });
    },
    /** The values that the user has changed. */
    typed,
    /** Makes the form show `initial` again. */
    forget,
    /** Forgets the error of the last try. */
    reset: () => mutation.reset(),
  };
}

/** What the user has typed, kept as a draft. */
function useTyped(draft: string) {
  const [typed, setTyped] = useState(() => draftOf(draft));
  useDraft(draft, typed);
  /** A field that changed since its error may be valid now. */
  const [changed, setChanged] = useState<ReadonlySet<string>>(new Set());
  return {
    typed,
    changed,
    /** `as` is the body's field that the values become, if it has another name. */
    change: (changes: object, as?: string): void => {
      setTyped((before) => ({ ...before, ...changes }));
      setChanged((before) => new Set([...before, ...Object.keys(changes), ...(as === undefined ? [] : [as])]));
    },
    noteSent: () => setChanged(new Set()),
    forget: () => setTyped({}),
  };
}

const isOf =
  (field: string) =>
  (problem: { field: string }): boolean =>
    problem.field === field;

/** Why a field of a body, or a part of it, is invalid. */
export function problemOfField(problems: ReturnType<typeof problemsOf>, field: string, body?: unknown): string | undefined {
  const problem = problems.find((each) => each.field === field || each.field.startsWith(`${field}.`));
  if (problem === undefined) return undefined;
  if (problem.field === field && problem.reason === "is required") return text.resource.form.required;
  return problem.field === field
    ? sentence(recognized(problem.reason))
    : `${partName(problem.field.slice(field.length + 1), fieldOf(body, field))} ${recognized(problem.reason)}.`;
}

const fieldOf = (body: unknown, field: string): unknown =>
  typeof body === "object" && body !== null ? new Map<string, unknown>(Object.entries(body)).get(field) : undefined;

/** An entry of a list is named by what it is, and not by its place. */
function partName(path: string, list: unknown): string {
  const entry: unknown = Array.isArray(list) ? list[Number(path)] : undefined;
  return typeof entry === "string" || typeof entry === "number" ? String(entry) : path;
}

/** An empty field counts as missing, so that the reason is "is required" and not what its content had to be. */
const filledIn = (body: unknown): unknown =>
  typeof body === "object" && body !== null ? Object.fromEntries(Object.entries(body).filter(([, value]) => value !== "")) : body;

/** An empty optional field is not sent. */
export const textOrUndefined = (value: string): string | undefined => (value.trim() === "" ? undefined : value.trim());

function useSend<Values, Body, Result>(
  body: (values: Values) => Body,
  send: (body: Body, idempotencyKey: string) => Promise<Result>,
) {
  const keyOf = useIdempotencyKey();
  return async (values: Values): Promise<Result> => {
    const request = body(values);
    return send(request, keyOf(request));
  };
}

/** A retry with the same content, after a lost response, has the same key; changed content has a new one. */
export function useIdempotencyKey(): (body: unknown) => string {
  const last = useRef({ content: "", key: "" });
  return (body) => {
    const content = JSON.stringify(body);
    if (last.current.content !== content) last.current = { content, key: crypto.randomUUID() };
    return last.current.key;
  };
}

/** Keeps what the user has changed if the session ends meanwhile, or the page reloads by itself. */
export function useDraft(key: string, typed: object): void {
  const [latest, owner] = [useRef(typed), useRef(session()?.user.id)];
  useEffect(() => {
    latest.current = typed;
  });
  useEffect(() => removeDraft(key), [key]); // the form has it now
  useEffect(() => {
    const keep = () => saveDraft(key, owner.current, latest.current);
    const leaveSession = subscribe(() => {
      if (session() === undefined && endedByItself()) keep();
    });
    const leaveReload = beforeReload(() => {
      keep();
      storeDrafts();
    });
    return () => {
      leaveSession();
      leaveReload();
    };
  }, [key, latest, owner]);
}

function useFocusOnProblem(form: { current: HTMLFormElement | null }, error: unknown): void {
  useEffect(() => {
    if (error !== null) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [form, error]);
}

/** "must not be empty" → "Must not be empty." */
function sentence(reason: string): string {
  if (reason.startsWith("is ")) return `This ${reason}.`;
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}${reason.endsWith(".") ? "" : "."}`;
}
