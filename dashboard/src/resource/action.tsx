// A button of something that can be done; where the state forbids it, it says why.
import Button, { type ButtonProps } from "@cloudscape-design/components/button";
import type { ReactNode } from "react";

interface Props {
  children: ReactNode;
  /** Why not, in words; undefined where the API would accept it. */
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
