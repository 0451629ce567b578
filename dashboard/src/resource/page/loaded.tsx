// The record of a page: waits for it, shows it, or says why it cannot.
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Failure } from "../../app/failure.tsx";
import { Page } from "../../app/page.tsx";
import type { Question } from "../../app/queries.ts";
import { isMissing } from "../../app/words.ts";
import type { Step } from "../../app/trail.ts";

interface Props<Item> {
  /** The kind of resource: "Server". */
  kind: string;
  above: readonly Step[];
  question: Question<{ data: Item }>;
  children: (item: Item) => ReactNode;
}

export function Loaded<Item>({ kind, above, question, children }: Props<Item>) {
  const { data, error, refetch } = useQuery(question);
  // The last data stays while refetching fails, unless the record is gone.
  if (data !== undefined && !isMissing(error)) return children(data.data);
  return (
    <Page title={kind} above={above}>
      {error === null ? <Spinner size="large" /> : <Failure error={error} retry={() => void refetch()} />}
    </Page>
  );
}
