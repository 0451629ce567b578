// One banner for all of the page while the service cannot be reached.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import { useConnectionLost } from "../app/connection.ts";
import { retryFailed } from "../app/query-client.ts";
import { text } from "../messages/text.ts";

export function ConnectionNotice() {
  const isLost = useConnectionLost();
  const say = text.app.failure;
  return (
    <div role="alert" className="notice">
      {isLost && (
        <Alert
          type="warning"
          header={navigator.onLine ? say.network.title : say.offline}
          action={<Button onClick={() => void retryFailed()}>{say.tryAgain}</Button>}
        >
          {say.reconnecting}
        </Alert>
      )}
    </div>
  );
}
