// A form: its fields in a box, and below them the error and two buttons.
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import FormField from "@cloudscape-design/components/form-field";
import Input, { type InputProps } from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { ReactNode, RefObject } from "react";
import type { Send } from "../../app/client.ts";
import { Failure } from "../../app/failure.tsx";
import { Missing, type Need, useMissing } from "../../app/may.tsx";
import { text } from "../../messages/text.ts";
import { ApiCall } from "../dialog/api-call.tsx";
import { ChangedMeanwhile } from "./conflict.tsx";
import { DANGER } from "../dialog/danger.ts";
import { StayOnPage } from "../page/stay.ts";
import type { Conflict } from "./use-edit-form.ts";
import { useFocusFirst } from "../page/use-focus-first.ts";
import type { TextBinding } from "./use-form.ts";

export interface FormProps {
  form: {
    ref: RefObject<HTMLFormElement | null>;
    failure: unknown;
    /** What somebody else changed meanwhile, until the user has decided. */
    conflict?: Conflict | undefined;
    pending: boolean;
    unchanged: boolean;
    submit: () => void;
    send: Send;
  };
  submit: string;
  onCancel?: () => void;
  /** The response has a secret. */
  secret?: boolean;
  /** What it sends cannot be undone. */
  destructive?: boolean;
  /** What sending it needs; without it, the fields can only be read. */
  needs?: readonly Need[];
  /** In a dialog the fields need no box. */
  boxed?: boolean;
  children: ReactNode;
}

export function Form({ needs = [], ...props }: FormProps) {
  const missing = useMissing()(...needs);
  if (missing === undefined) return <Fillable {...props} />;
  return (
    <SpaceBetween size="l">
      <fieldset disabled className="read-only">
        <SpaceBetween size="l">{props.children}</SpaceBetween>
      </fieldset>
      <Missing need={missing} />
    </SpaceBetween>
  );
}

type Fillable = Omit<FormProps, "needs">;

function Fillable(props: Fillable) {
  const { form, secret = false, boxed = true, children } = props;
  useFocusFirst(form.ref);
  const content = (
    <SpaceBetween size="l">
      {children}
      <ApiCall send={form.send} />
      {form.conflict !== undefined && <ChangedMeanwhile of={form.conflict} />}
      {form.failure !== undefined && <Failure error={form.failure} resend={form.unchanged ? form.submit : undefined} />}
      {/* Under the fields, where one looks after the last of them; in a dialog, at its end. */}
      {boxed ? (
        <Buttons {...props} />
      ) : (
        <div className="at-end">
          <Buttons {...props} />
        </div>
      )}
    </SpaceBetween>
  );
  return (
    <form
      ref={form.ref}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        event.stopPropagation(); // for a form in a dialog that a form opens
        if (form.conflict === undefined) form.submit();
      }}
    >
      {secret && form.pending && <StayOnPage />}
      {boxed ? <Container>{content}</Container> : content}
    </form>
  );
}

function Buttons({ form, submit, onCancel, destructive = false, boxed = true }: Fillable) {
  const cancel = onCancel && (
    <Button variant="link" formAction="none" disabled={form.pending} onClick={onCancel}>
      {text.resource.form.cancel}
    </Button>
  );
  return (
    <SpaceBetween direction="horizontal" size="xs">
      {!boxed && cancel}
      <Button
        variant="primary"
        formAction="submit"
        loading={form.pending}
        disabled={form.conflict !== undefined}
        {...(destructive && { style: DANGER })}
      >
        {submit}
      </Button>
      {boxed && cancel}
    </SpaceBetween>
  );
}

interface TextFieldProps extends TextBinding {
  label: string;
  description?: ReactNode;
  /** The accepted values, shown beforehand. */
  hint?: string;
  optional?: boolean;
  type?: InputProps.Type;
  inputMode?: InputProps.InputMode;
  placeholder?: string;
  autoComplete?: string | boolean;
  autoFocus?: boolean;
}

export function TextField({ label, description, hint, optional = false, value, error, onChange, ...input }: TextFieldProps) {
  return (
    <FormField
      label={optional ? text.resource.form.optional(label) : label}
      description={description}
      constraintText={error === undefined && hint}
      errorText={error}
    >
      <Input autoComplete={false} spellcheck={false} {...input} value={value} onChange={({ detail }) => onChange(detail.value)} />
    </FormField>
  );
}
