// The steps of a new account to its first protected instance: SSH key, server, instance, backup policy.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { ListedInstance } from "../../../shared/api/instances.ts";
import { LIFECYCLE, SERVER_PHASES } from "../../../shared/domain/lifecycle.ts";
import { useFollow } from "../app/follow.ts";
import { needsOf, useMay } from "../app/may.tsx";
import { sshKeys } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { Section } from "../resource/page/section.tsx";
import type { Tally } from "./use-tally.ts";

/** The status of a server that takes instances. */
const USABLE_STATUS = SERVER_PHASES.ready;

interface Props {
  servers: Tally;
  /** The first one, once there is one. */
  instance: ListedInstance | undefined;
}

/** Whether an account with one instance still has a step to take: no policy backs it up. */
export const isUnprotected = ({ protection }: ListedInstance): boolean => protection.next_backup_at === null;

export function FirstSteps({ servers, instance }: Props) {
  const say = text.home.firstSteps;
  const mayRead = useMay()("servers:read");
  const keys = useQuery({ ...sshKeys.list({ per_page: 1 }), enabled: mayRead && servers.total === 0 });
  const hasKey = servers.total > 0 || (keys.data?.meta.total ?? 0) > 0;
  const active = servers.count(USABLE_STATUS) > 0;
  return (
    <Section title={say.title}>
      <ol className="plain">
        <Step isDone={hasKey} next={!hasKey} optional title={say.key.title} button={say.key.button} href="/settings/ssh-keys">
          {say.key.text}
        </Step>
        <ServerStep servers={servers} />
        <Step
          isDone={instance !== undefined}
          next={active}
          title={say.instance.title}
          button={say.instance.button}
          href="/instances/create"
        >
          {say.instance.text}
        </Step>
        <Step
          isDone={false}
          next={instance !== undefined}
          title={say.policy.title}
          button={say.policy.button}
          href={`/instances/${instance?.id}`}
        >
          {say.policy.text}
        </Step>
      </ol>
    </Section>
  );
}

function ServerStep({ servers }: { servers: Tally }) {
  const say = text.home.firstSteps.server;
  if (servers.total === 0)
    return (
      <Step isDone={false} next title={say.title} button={say.button} href="/servers/create">
        {say.text}
      </Step>
    );
  const underWay = servers.count(SERVER_PHASES[LIFECYCLE["server.create"].through]) > 0;
  return (
    <Step isDone={servers.count(USABLE_STATUS) > 0} next={!underWay} title={say.title} button={say.view} href="/servers">
      {underWay ? say.inProgress : say.offline}
    </Step>
  );
}

interface StepProps {
  isDone: boolean;
  /** Whether it is this step's turn. */
  next: boolean;
  /** A later step can do it as well. */
  optional?: boolean;
  title: string;
  button: string;
  href: string;
  children: ReactNode;
}

function Step({ isDone, next, optional = false, title, button, href, children }: StepProps) {
  const follow = useFollow();
  const may = useMay();
  return (
    <li>
      <SpaceBetween size="xs">
        <SpaceBetween direction="horizontal" size="xs" alignItems="center">
          <Box variant="h3" padding="n">
            {title}
          </Box>
          {isDone && <StatusIndicator type="success">{text.home.firstSteps.done}</StatusIndicator>}
        </SpaceBetween>
        {!isDone && <Box color="text-body-secondary">{children}</Box>}
        {next && !isDone && may(...needsOf(href)) && (
          <Button variant={optional ? "normal" : "primary"} href={href} onFollow={follow}>
            {button}
          </Button>
        )}
      </SpaceBetween>
    </li>
  );
}
