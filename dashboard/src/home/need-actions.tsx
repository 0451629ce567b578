// The buttons that mend what needs a person: one opens a dialog, another leads to where the person sees what to do.
import Button from "@cloudscape-design/components/button";
import { type ReactNode, useState } from "react";
import { useFollow } from "../app/follow.ts";
import { useNoteLeftOut } from "../app/left-out.ts";
import { type Need, useMissing } from "../app/may.tsx";

interface DialogActionProps {
  needs: readonly Need[];
  label: string;
  ariaLabel: string;
  /** The dialog. */
  children: (onDismiss: () => void) => ReactNode;
}

export function DialogAction({ needs, label, ariaLabel, children }: DialogActionProps) {
  const [asking, setAsking] = useState(false);
  const missing = useMissing()(...needs);
  useNoteLeftOut(missing);
  if (missing !== undefined) return null;
  return (
    <>
      <Button variant="inline-link" wrapText={false} ariaLabel={ariaLabel} onClick={() => setAsking(true)}>
        {label}
      </Button>
      {asking && children(() => setAsking(false))}
    </>
  );
}

export function LinkAction({ href, label, ariaLabel }: { href: string; label: string; ariaLabel: string }) {
  return (
    <Button variant="inline-link" wrapText={false} ariaLabel={ariaLabel} href={href} onFollow={useFollow()}>
      {label}
    </Button>
  );
}
