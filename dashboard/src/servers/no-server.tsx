// Replaces a form that needs an active server.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import { useFollow } from "../app/follow.ts";
import { text } from "../messages/text.ts";

/** `purpose` is a sentence that says what the server is for. */
export function NoServer({ purpose }: { purpose: string }) {
  const say = text.servers.noneActive;
  return (
    <Alert
      type="info"
      header={say.title}
      action={
        <Button href="/servers" onFollow={useFollow()}>
          {say.view}
        </Button>
      }
    >
      {purpose} {say.text}
    </Alert>
  );
}
