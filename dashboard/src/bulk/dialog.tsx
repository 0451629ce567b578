// Asks before an action on many records: what happens to how many, and which are left out and why.
import Box from "@cloudscape-design/components/box";
import type { ComponentProps, ReactNode } from "react";
import { text } from "../messages/text.ts";
import { Dialog } from "../resource/dialog/dialog.tsx";
import type { DialogProps } from "./candidate.ts";
import { BulkForecast } from "./forecast.tsx";
import { choose, Included } from "./included.tsx";
import { sendBulk, useBulk } from "./use-bulk.ts";
import { bulkWork } from "./words.ts";

interface Props extends DialogProps {
  parameters?: Record<string, unknown>;
  /** Better words for sentences of the dry run. */
  words?: ComponentProps<typeof BulkForecast>["words"];
  /** Something that the user has to do is still missing. */
  disabled?: boolean;
  /** What else the user decides. */
  options?: ReactNode;
  /** What the user has to do, which may confirm as the button does. */
  children?: (confirm: () => void) => ReactNode;
}

export function BulkDialog(props: Props) {
  const { kind, action, selected, parameters, words = {}, disabled = false, options, children, onDone, onDismiss } = props;
  const say = text.bulk;
  const { verb, ask, effect } = bulkWork(kind, action);
  const choice = choose(selected);
  const ids = choice.included.map(({ id }) => id);
  const question = ask(say.count(ids.length, kind));
  const bulk = useBulk(onDone);
  const request = { action, ids, ...(parameters !== undefined && { parameters }) };
  const cannot = ids.length === 0 || disabled;
  const confirm = (): void => {
    if (!cannot) bulk.begin(request);
  };
  return (
    <Dialog
      title={ids.length === 0 ? say.none(verb, selected.length, kind) : question}
      confirm={ids.length === 0 ? verb : question}
      destructive={action.startsWith("delete")}
      disabled={cannot}
      pending={bulk.pending}
      error={bulk.error}
      send={() => sendBulk(request, crypto.randomUUID())}
      onConfirm={confirm}
      onDismiss={onDismiss}
    >
      {ids.length > 0 && (
        <>
          <Box>
            {effect !== undefined && `${effect} `}
            {say.byService}
          </Box>
          {options}
          <BulkForecast request={request} words={words} />
          {children?.(confirm)}
        </>
      )}
      <Included of={choice} />
    </Dialog>
  );
}
