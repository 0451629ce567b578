// Shows when a list was last fetched.
import Box from "@cloudscape-design/components/box";
import { useEffect, useState } from "react";
import { text } from "../../messages/text.ts";

const STEP_MS = 10_000;
const OLD_SECONDS = 60;

/** `onlyIfOld`: what says it for all of the page stands above. */
export function Updated({ at, onlyIfOld = false }: { at: number; onlyIfOld?: boolean }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), STEP_MS);
    return () => clearInterval(timer);
  }, []);
  if (at === 0) return null;
  const seconds = Math.max(0, Math.floor((now - at) / 1000));
  if (onlyIfOld && seconds < OLD_SECONDS) return null;
  const say = text.resource.list.updated;
  return (
    <Box variant="small" color="text-body-secondary">
      {seconds < 15 ? say.now : seconds < 60 ? say.seconds(Math.floor(seconds / 10) * 10) : say.minutes(Math.floor(seconds / 60))}
    </Box>
  );
}
