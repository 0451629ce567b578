// Says that the page waits for the API's rate limit, and for how long; then the page continues automatically.
import Alert from "@cloudscape-design/components/alert";
import { useSecondsUntil } from "../session/countdown.ts";
import { useWaitingUntil } from "../app/gate.ts";
import { spanInWords } from "../app/words.ts";
import { text } from "../messages/text.ts";

export function LimitNotice() {
  const secondsLeft = useSecondsUntil(useWaitingUntil());
  return (
    <div role="status" aria-atomic="false" className="notice">
      {secondsLeft > 0 && (
        <Alert type="warning" header={text.shell.limit.title}>
          {text.shell.limit.continuesIn(
            <span role="timer" aria-live="off">
              {spanInWords(secondsLeft)}
            </span>,
          )}
        </Alert>
      )}
    </div>
  );
}
