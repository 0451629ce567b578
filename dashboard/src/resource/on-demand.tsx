// A part of a page that loads only when the user opens it: so that opening a page costs few requests, and a change refetches
// little.
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import { type ReactNode, useEffect, useRef, useState } from "react";

interface Props {
  title: string;
  description?: string;
  /** Already, because the URL names a place in it. */
  opened?: boolean;
  /** Has its own title. */
  children: ReactNode;
}

export function OnDemand({ title, description, opened = false, children }: Props) {
  const [by, setBy] = useState<"user" | "url" | undefined>(opened ? "url" : undefined);
  const content = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (by === "user") content.current?.focus(); // what the user has just pressed is gone
  }, [by]);
  if (by === undefined)
    return (
      <ExpandableSection
        variant="container"
        headingTagOverride="h2"
        headerText={title}
        {...(description !== undefined && { headerDescription: description })}
        expanded={false}
        onChange={() => setBy("user")}
      />
    );
  return (
    <div ref={content} tabIndex={-1}>
      {children}
    </div>
  );
}
