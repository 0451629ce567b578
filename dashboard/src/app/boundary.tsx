// What is shown when a page breaks: words instead of nothing, and the rest of the dashboard stays.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import { Component, type ReactNode } from "react";
import { useRouteError } from "react-router";

interface Props {
  /** Where the person is: going elsewhere clears the error. */
  place: string;
  children: ReactNode;
}

export class Boundary extends Component<Props, { error: unknown; place: string }> {
  override state = { error: undefined, place: this.props.place };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  static getDerivedStateFromProps({ place }: Props, state: { place: string }) {
    return state.place === place ? null : { error: undefined, place };
  }

  override render() {
    return this.state.error === undefined ? this.props.children : <Broken error={this.state.error} />;
  }
}

/** What a router shows where there is no page around what broke. */
export const BrokenRoute = () => <Broken error={useRouteError()} />;

function Broken({ error }: { error: unknown }) {
  const outdated = error instanceof TypeError && /dynamically imported module|module script/i.test(error.message);
  return (
    <Alert
      type="error"
      header={outdated ? "This page could not be loaded" : "This page has broken"}
      action={<Button onClick={() => window.location.reload()}>Reload</Button>}
    >
      {outdated
        ? "The dashboard has been updated, or the connection is gone. Reload to go on."
        : "That is a fault of the dashboard. What you did before is safe; reload to go on."}
    </Alert>
  );
}
