// A form in a dialog.
import Modal from "@cloudscape-design/components/modal";
import type { ReactNode } from "react";
import { Form, type FormProps } from "./form.tsx";

interface Props {
  title: string;
  form: FormProps["form"];
  submit: string;
  children: ReactNode;
  onDismiss: () => void;
}

export const FormDialog = ({ title, form, submit, children, onDismiss }: Props) => (
  <Modal visible header={title} onDismiss={onDismiss}>
    <Form form={form} submit={submit} onCancel={onDismiss} boxed={false}>
      {children}
    </Form>
  </Modal>
);
