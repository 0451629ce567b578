// A part of a page that loads only when the user opens it: so that opening a page costs few requests, and a change refetches
// little.
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import { type ReactNode, useEffect, useRef, useState } from "react";

interface Props {
  title: string;
  description?: string;
  /** Already, because the URL names a place in it, or because it is in view anyway. */
  opened?: boolean;
  /** The user opens or closes it. */
  onChange?: (open: boolean) => void;
  /** Has its own title, and a button that closes it if the user can do so. */
  children: ReactNode | ((close: () => void) => ReactNode);
}

export function OnDemand({ title, description, opened = false, onChange, children }: Props) {
  const [open, setOpen] = useState(opened);
  const [byUser, setByUser] = useState(false);
  const content = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (byUser) content.current?.focus(); // what the user has just pressed is gone
  }, [byUser, open]);
  const change = (next: boolean): void => {
    setOpen(next);
    setByUser(true);
    onChange?.(next);
  };
  return (
    <div ref={content} tabIndex={-1}>
      {open ? (
        typeof children === "function" ? (
          children(() => change(false))
        ) : (
          children
        )
      ) : (
        <ExpandableSection
          variant="container"
          headingTagOverride="h2"
          headerText={title}
          {...(description !== undefined && { headerDescription: description })}
          expanded={false}
          onChange={() => change(true)}
        />
      )}
    </div>
  );
}
