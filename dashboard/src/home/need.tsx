// One thing that needs a person: what, of which resource, why, since when, and the button that mends it.
import Box from "@cloudscape-design/components/box";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { ReactNode } from "react";
import { RequestId } from "../app/failure.tsx";
import { Link } from "../app/link.tsx";
import type { NamedResource } from "../operations/pages.ts";
import { Time } from "../resource/words/time.tsx";
import { ResourceName } from "./resource-name.tsx";

export interface Need {
  id: string;
  title: string;
  sign?: "error" | "warning";
  /** The page that says more about it: an operation with its log. */
  page?: string;
  resource: NamedResource;
  explanation?: ReactNode;
  since: string | null;
  requestId?: string;
  action?: ReactNode;
}

export function NeedItem({
  need: { title, sign = "error", page, resource, explanation, since, requestId, action },
}: {
  need: Need;
}) {
  return (
    <li className="need">
      <div>
        <StatusIndicator type={sign}>{page === undefined ? title : <Link to={page}>{title}</Link>}</StatusIndicator>:{" "}
        <ResourceName of={resource} />
        <Box>{explanation}</Box>
        {(since !== null || requestId !== undefined) && (
          <Box variant="small" color="text-body-secondary">
            {since !== null && <Time at={since} />}
            <RequestId id={requestId} />
          </Box>
        )}
      </div>
      {action}
    </li>
  );
}
