// Asks before a deletion: says what is lost and what stays. If much is lost, the user has to type the name.
import Alert from "@cloudscape-design/components/alert";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import { useMutation } from "@tanstack/react-query";
import { type ComponentProps, type ReactNode, useRef, useState } from "react";
import { text } from "../../messages/text.ts";
import { Dialog } from "./dialog.tsx";
import { Forecast, type Rehearse } from "./forecast.tsx";
import { isSameName } from "./same-name.ts";
import { useFocusFirst } from "../page/use-focus-first.ts";

interface Props {
  /** The ID of what is deleted. */
  of: string;
  title: string;
  confirm: string;
  /** What is lost, what stays. */
  children: ReactNode;
  /** What else the user decides. */
  options?: ReactNode;
  /** The text that the user has to type. */
  name?: string;
  send: () => Promise<unknown>;
  /** The dry run of `send`, if it has one. */
  rehearse?: Rehearse;
  words?: ComponentProps<typeof Forecast>["words"];
  onDeleted: () => void;
  onDismiss: () => void;
}

export function Deletion(props: Props) {
  const { of, title, confirm, children, options, name, send, rehearse, words = {}, onDeleted, onDismiss } = props;
  const [typed, setTyped] = useState("");
  const page = useRef("");
  const deletion = useMutation({
    mutationFn: send,
    // This is on the mutation and not on its call: the page may learn first that its record is gone, and unmount the dialog.
    onSuccess: () => {
      if (window.location.pathname === page.current) onDeleted();
    },
  });
  const matches = name === undefined || isSameName(typed, name);
  const confirmed = () => {
    if (!matches || deletion.isPending) return;
    page.current = window.location.pathname;
    deletion.mutate();
  };
  return (
    <Dialog
      title={title}
      confirm={confirm}
      destructive
      disabled={!matches}
      pending={deletion.isPending}
      error={deletion.error}
      send={send}
      onConfirm={confirmed}
      onDismiss={onDismiss}
    >
      <Alert type="warning">{children}</Alert>
      {options}
      {rehearse !== undefined && <Forecast rehearse={rehearse} of={[of]} returns={false} words={words} />}
      {name !== undefined && <TypedName name={name} typed={typed} onType={setTyped} onSubmit={confirmed} />}
    </Dialog>
  );
}

interface TypedNameProps {
  name: string;
  typed: string;
  onType: (typed: string) => void;
  onSubmit: () => void;
}

function TypedName({ name, typed, onType, onSubmit }: TypedNameProps) {
  const form = useRef<HTMLFormElement>(null);
  useFocusFirst(form);
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <FormField label={text.resource.form.typeName(name)}>
        <Input value={typed} onChange={({ detail }) => onType(detail.value)} autoComplete={false} spellcheck={false} />
      </FormField>
    </form>
  );
}
