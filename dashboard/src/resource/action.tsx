// A button for an action; it shows the reason if the status forbids the action.
import Button, { type ButtonProps } from "@cloudscape-design/components/button";
import type { ReactNode } from "react";

interface Props {
  children: ReactNode;
  /** Why it is disabled; undefined if the API would accept the action. */
  disabledReason: string | undefined;
  onClick: () => void;
  pending?: boolean;
  variant?: ButtonProps.Variant;
}

export function Action({ children, disabledReason, onClick, pending = false, variant = "normal" }: Props) {
  return (
    <Button
      variant={variant}
      onClick={onClick}
      loading={pending}
      disabled={disabledReason !== undefined}
      {...(disabledReason !== undefined && { disabledReason })}
    >
      {children}
    </Button>
  );
}
