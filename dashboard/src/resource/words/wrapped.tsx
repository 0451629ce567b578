// Text in a table that may take several lines; otherwise a cell is as wide as its longest text.
import type { ReactNode } from "react";

export const Wrapped = ({ children }: { children: ReactNode }) => (
  <div style={{ whiteSpace: "normal", overflowWrap: "break-word", minInlineSize: "7em", maxInlineSize: "32em" }}>{children}</div>
);
