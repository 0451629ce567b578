// Shown when a page breaks: an explanation instead of nothing, and the rest of the dashboard stays.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import { Component, type ReactNode, useEffect } from "react";
import { useRouteError } from "react-router";
import { NOT_LOADED, NotLoaded } from "./loading.ts";

interface Props {
  /** The current location: opening another page clears the error. */
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

/** Shown by the router if no page surrounds what broke. */
export const BrokenRoute = () => <Broken error={useRouteError()} />;

function Broken({ error }: { error: unknown }) {
  const notLoaded = error instanceof NotLoaded;
  useEffect(() => {
    if (!notLoaded) return undefined;
    const reload = () => window.location.reload();
    window.addEventListener("online", reload);
    return () => window.removeEventListener("online", reload);
  }, [notLoaded]);
  return (
    <div role="alert">
      <Alert
        type="error"
        header={notLoaded ? NOT_LOADED.title : "Something went wrong"}
        action={<Button onClick={() => window.location.reload()}>Reload</Button>}
      >
        {notLoaded ? NOT_LOADED.text : "This is a bug on our side. Your changes are saved. Reload to continue."}
      </Alert>
    </div>
  );
}
