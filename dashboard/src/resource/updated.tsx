// When a list was last fetched.
import Box from "@cloudscape-design/components/box";
import { useEffect, useState } from "react";
import { text } from "../messages/text.ts";

const STEP_MS = 10_000;

export function Updated({ at }: { at: number }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), STEP_MS);
    return () => clearInterval(timer);
  }, []);
  if (at === 0) return null;
  const seconds = Math.max(0, Math.floor((now - at) / 1000));
  const say = text.resource.list.updated;
  return (
    <Box variant="small" color="text-body-secondary">
      {seconds < 15 ? say.now : seconds < 60 ? say.seconds(Math.floor(seconds / 10) * 10) : say.minutes(Math.floor(seconds / 60))}
    </Box>
  );
}
