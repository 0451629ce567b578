// A part of a page in a box of its own, under a heading of the second level.
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import type { ReactNode } from "react";

interface Props {
  title: ReactNode;
  description?: ReactNode;
  /** The number of what the section shows, beside the title. */
  counter?: ReactNode;
  /** Help that explains the title. */
  info?: ReactNode;
  actions?: ReactNode;
  /** Whether the section fills the height of what it is in. */
  fitHeight?: boolean;
  children?: ReactNode;
}

/** A part without a heading is a `Container`, and a list of resources a `ResourceTable`, which has its own. */
export const Section = ({ title, fitHeight = false, children, ...beside }: Props) => (
  <Container
    fitHeight={fitHeight}
    header={
      <Header variant="h2" {...beside}>
        {title}
      </Header>
    }
  >
    {children}
  </Container>
);
