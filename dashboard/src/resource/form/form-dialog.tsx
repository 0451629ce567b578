// A form in a dialog.
import Modal from "@cloudscape-design/components/modal";
import type { ReactNode } from "react";
import { useKeepFocus } from "../dialog/dialog.tsx";
import { Form, type FormProps } from "./form.tsx";

interface Props {
  title: string;
  form: FormProps["form"];
  submit: string;
  /** What it sends cannot be undone. */
  destructive?: boolean;
  children: ReactNode;
  onDismiss: () => void;
}

/** It stays while its request is pending, which nothing can call back, and a click beside it does not discard what was typed. */
export function FormDialog({ title, form, submit, destructive = false, children, onDismiss }: Props) {
  useKeepFocus();
  return (
    <Modal visible header={title} onDismiss={({ detail }) => !form.pending && detail.reason !== "overlay" && onDismiss()}>
      <Form form={form} submit={submit} destructive={destructive} onCancel={onDismiss} boxed={false}>
        {children}
      </Form>
    </Modal>
  );
}
