// What the signed-in user may do: pages show what is possible, and say what is missing. Every page loads the overview, which says
// it. Until then, and with an older service, pages show everything: the API decides.
import Alert from "@cloudscape-design/components/alert";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Overview } from "../../../shared/api/overview.ts";
import type { Permission } from "../../../shared/api/permissions.ts";
import { hasRole, type RequiredRole } from "../../../shared/api/roles.ts";
import { text } from "../messages/text.ts";
import { useNoteLeftOut } from "./left-out.ts";
import { Link } from "./link.tsx";
import { overview } from "./queries.ts";
import { missingInWords } from "./words.ts";

/** What something needs: permissions, or a role. */
export type Need = Permission | RequiredRole;

const isMet = (need: Need, { role, permissions }: Partial<Overview>): boolean => {
  if (need === "owner" || need === "admin") return role === undefined || hasRole(role ?? undefined, need);
  return permissions?.includes(need) ?? true;
};

/** Finds the first need that the user lacks. */
export function useMissing(): (...needs: readonly Need[]) => Need | undefined {
  const counts = useQuery({ ...overview(), enabled: false }).data?.data ?? {};
  return (...needs) => needs.find((need) => !isMet(need, counts));
}

/** Whether the user may do what needs this. */
export function useMay(): (...needs: readonly Need[]) => boolean {
  const missing = useMissing();
  return (...needs) => missing(...needs) === undefined;
}

interface Props {
  needs: readonly Need[];
  children: ReactNode;
}

/** Leaves out what the user may not do; the page says so. */
export function May({ needs, children }: Props) {
  const missing = useMissing()(...needs);
  useNoteLeftOut(missing);
  return missing === undefined ? children : null;
}

/** Says what is missing, and who can give it. */
export function Missing({ need }: { need: Need }) {
  const say = text.app.missing;
  return (
    <Alert type="info" header={say.title}>
      {missingInWords(need)} {useMay()("settings:read") && <Link to="/settings/people">{say.people}</Link>}
    </Alert>
  );
}

const READ_WORK = ["servers:read", "instances:read", "backups:read"] as const;

/** What the pages need, by their paths. */
const PAGES: Readonly<Record<string, readonly Need[]>> = {
  "/servers": ["servers:read"],
  "/servers/create": ["servers:write"],
  "/servers/:id": ["servers:read"],
  "/instances": ["instances:read"],
  "/instances/create": ["instances:write"],
  "/instances/:id": ["instances:read"],
  "/instances/:id/clone": ["instances:write", "backups:restore"],
  "/deploys/:id": ["instances:read"],
  "/backups": ["backups:read"],
  "/backups/upload": ["backups:write"],
  "/operations": READ_WORK,
  "/alerts": ["settings:read"],
  "/settings/alerts": ["settings:read"],
  "/settings/api-keys/create": ["admin"],
  "/settings/ssh-keys": ["servers:read"],
  "/settings/webhooks": ["settings:read"],
  "/settings/webhooks/create": ["settings:write"],
  "/settings/webhooks/:id": ["settings:read"],
  "/settings/people": ["settings:read"],
  "/activity": ["settings:read"],
};

const NOTHING: readonly Need[] = [];

/** What a page needs, by its path or by a link to it. */
export const needsOf = (path: string): readonly Need[] => PAGES[path.replace(/\?.*$/, "")] ?? NOTHING;
