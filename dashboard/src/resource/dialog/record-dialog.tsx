// A dialog about a record that it loads first: waits for it, or says why it cannot.
import Modal from "@cloudscape-design/components/modal";
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Failure } from "../../app/failure.tsx";
import type { Question } from "../../app/queries.ts";
import { isMissing } from "../../app/words.ts";

interface Props<Item> {
  title: string;
  question: Question<{ data: Item }>;
  onDismiss: () => void;
  /** The dialog that does without the record, if that was deleted. */
  otherwise?: ReactNode;
  /** The dialog. */
  children: (item: Item) => ReactNode;
}

export function RecordDialog<Item>({ title, question, onDismiss, otherwise, children }: Props<Item>) {
  const { data, error, refetch } = useQuery(question);
  if (data !== undefined) return children(data.data);
  if (otherwise !== undefined && isMissing(error)) return otherwise;
  return (
    <Modal visible header={title} onDismiss={onDismiss}>
      {error === null ? (
        <Spinner size="large" />
      ) : (
        <Failure error={error} retry={isMissing(error) ? undefined : () => void refetch()} />
      )}
    </Modal>
  );
}
