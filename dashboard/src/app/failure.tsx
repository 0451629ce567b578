// An error in its place on the page: what happened, what to do, and the request ID for support.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useEffect, useRef } from "react";
import { text } from "../messages/text.ts";
import { useCountdown } from "../session/countdown.ts";
import { isUnreachable } from "./connection.ts";
import { retryAfterSeconds } from "./limit.ts";
import { spanInWords, describeError } from "./words.ts";

interface Props {
  error: unknown;
  /** Sends the request again when the user clicks a button, and automatically after a rate limit. */
  retry?: (() => void) | undefined;
  /** Sends it again only automatically, because the form has its own button. */
  resend?: (() => void) | undefined;
}

export function Failure({ error, retry, resend }: Props) {
  const { title, text: explanation, requestId } = describeError(error);
  const again = retry ?? resend;
  const secondsLeft = useRetryAfterLimit(error, again);
  // The banner above the page says it once, and the page is fetched again by itself.
  if (retry !== undefined && isUnreachable(error))
    return <StatusIndicator type="pending">{text.app.failure.waiting}</StatusIndicator>;
  return (
    <div role="alert" aria-atomic="false">
      <Alert type="error" header={title} action={retry && <Button onClick={retry}>{text.app.failure.tryAgain}</Button>}>
        {secondsLeft > 0 && again !== undefined
          ? text.app.failure.retryingIn(
              <span role="timer" aria-live="off">
                {spanInWords(secondsLeft)}
              </span>,
            )
          : explanation}
        <RequestId id={requestId} />
      </Alert>
    </div>
  );
}

/** The same in a notification, whose header says what failed, in its own colors. */
export function FailureNote({ error }: { error: unknown }) {
  const { text: explanation, requestId } = describeError(error);
  return (
    <>
      {explanation}
      <RequestId id={requestId} />
    </>
  );
}

/** The seconds left until the rate limit resets; then retries once per error. */
function useRetryAfterLimit(error: unknown, again: (() => void) | undefined): number {
  const secondsLeft = useCountdown(retryAfterSeconds(error), error);
  const waiting = useRef<unknown>(undefined);
  useEffect(() => {
    if (secondsLeft > 0) waiting.current = error;
    else if (waiting.current === error && retryAfterSeconds(error) !== undefined) {
      waiting.current = undefined;
      again?.();
    }
  }, [secondsLeft, error, again]);
  return secondsLeft;
}

export function RequestId({ id }: { id: string | undefined }) {
  return (
    id !== undefined && (
      <Box variant="small" color="inherit" display="block">
        {text.app.failure.requestId(id)}
      </Box>
    )
  );
}
