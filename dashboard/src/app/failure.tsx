// An error in its place on the page: what happened, what to do, and the request to name when asking for help.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import { wordsOf } from "./words.ts";

export function Failure({ error, retry }: { error: unknown; retry?: (() => void) | undefined }) {
  const { title, text, requestId } = wordsOf(error);
  return (
    <Alert type="error" header={title} action={retry && <Button onClick={retry}>Try again</Button>}>
      {text}
      <RequestId id={requestId} />
    </Alert>
  );
}

export function RequestId({ id }: { id: string | undefined }) {
  return (
    id !== undefined && (
      <Box variant="small" color="inherit" display="block">
        Request {id}
      </Box>
    )
  );
}
