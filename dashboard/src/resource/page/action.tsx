// A button for an action; it shows the reason if the status forbids the action.
import Button, { type ButtonProps } from "@cloudscape-design/components/button";
import type { ReactNode } from "react";
import { May, type Need } from "../../app/may.tsx";

interface Props {
  children: ReactNode;
  /** What the user has to be allowed; without it, the button is left out. */
  needs: readonly Need[];
  /** Why it is disabled; undefined if the API would accept the action. */
  disabledReason: string | undefined;
  onClick: () => void;
  pending?: boolean;
  variant?: ButtonProps.Variant;
}

export function Action({ children, needs, disabledReason, onClick, pending = false, variant = "normal" }: Props) {
  return (
    <May needs={needs}>
      <Button
        variant={variant}
        onClick={onClick}
        loading={pending}
        disabled={disabledReason !== undefined}
        {...(disabledReason !== undefined && { disabledReason })}
      >
        {children}
      </Button>
    </May>
  );
}
