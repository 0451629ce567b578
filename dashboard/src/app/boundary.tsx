// Shown when a page breaks: an explanation instead of nothing, and the rest of the dashboard stays.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import { Component, type ReactNode, useEffect } from "react";
import { useRouteError } from "react-router";
import { text } from "../messages/text.ts";
import { startText } from "../messages/start.ts";
import { RECOVER_MS } from "./connection.ts";
import { isServed, NotLoaded } from "./loading.ts";
import { reload } from "./reload.ts";

interface Props {
  /** The current location: opening another page clears the error. */
  path: string;
  children: ReactNode;
}

export class Boundary extends Component<Props, { error: unknown; path: string }> {
  override state = { error: undefined, path: this.props.path };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  static getDerivedStateFromProps({ path }: Props, state: { path: string }) {
    return state.path === path ? null : { error: undefined, place: path };
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
    let wasDown = false;
    const reloadOnceUp = async (): Promise<void> => {
      const isUp = await isServed();
      if (isUp && wasDown) reload();
      wasDown ||= !isUp;
    };
    window.addEventListener("online", reload);
    void reloadOnceUp(); // it may be back before the first interval ends
    const timer = setInterval(() => void reloadOnceUp(), RECOVER_MS);
    return () => {
      window.removeEventListener("online", reload);
      clearInterval(timer);
    };
  }, [notLoaded]);
  return (
    <div role="alert">
      <Alert
        type="error"
        header={notLoaded ? startText.notLoaded.title : text.app.failure.bug.title}
        action={<Button onClick={() => window.location.reload()}>{startText.reload}</Button>}
      >
        {notLoaded ? startText.notLoaded.text : text.app.failure.bug.text}
      </Alert>
    </div>
  );
}
