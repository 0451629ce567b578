// The frame of every page: breadcrumbs, heading, actions, and the title in the browser's tab.
import Box from "@cloudscape-design/components/box";
import ContentLayout from "@cloudscape-design/components/content-layout";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { ReactNode } from "react";
import { lazily } from "./lazily.tsx";
import { useLeftOut } from "./left-out.ts";
import { useNarrow } from "./narrow.ts";
import { useTitle } from "./title.ts";
import { type Step, useTrail } from "./trail.ts";

const LeftOutNote = lazily(async () => (await import("./left-out-note.tsx")).LeftOutNote);

const NONE: readonly Step[] = [];

interface Props {
  title: string;
  description?: ReactNode;
  /** Below the heading: what the resource of the page is at a glance. */
  summary?: ReactNode;
  /** The parent pages of this one, from the top. */
  above?: readonly Step[];
  actions?: ReactNode;
  /** Set for a page that is one list, whose own heading is the page's (`<ResourceTable main …>`). */
  headless?: boolean;
  children: ReactNode;
}

export function Page({ title, description, summary, above = NONE, actions, headless = false, children }: Props) {
  useTitle(title);
  useTrail(above, title);
  const narrow = useNarrow();
  const leftOut = useLeftOut();
  return (
    <ContentLayout
      header={
        !headless && (
          <div className="page-top">
            {narrow ? (
              <div className="page-head">
                <Box variant="h1" fontSize="heading-l">
                  {title}
                </Box>
                {actions}
              </div>
            ) : (
              <Header variant="h1" description={description} actions={actions}>
                {title}
              </Header>
            )}
            {narrow && description}
            {summary}
          </div>
        )
      }
    >
      <SpaceBetween size="l">
        {leftOut.length > 0 && <LeftOutNote needs={leftOut} />}
        {children}
      </SpaceBetween>
    </ContentLayout>
  );
}
