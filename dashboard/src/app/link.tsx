// A link to another page of the dashboard.
import CloudscapeLink from "@cloudscape-design/components/link";
import type { ReactNode } from "react";
import { useFollow } from "./follow.ts";

export function Link({ to, children }: { to: string; children: ReactNode }) {
  return (
    <CloudscapeLink href={to} onFollow={useFollow()}>
      {children}
    </CloudscapeLink>
  );
}
