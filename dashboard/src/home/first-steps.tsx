// The steps of a new account to its first instance: SSH key, server, instance.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { LIFECYCLE, SERVER_PHASES } from "../../../shared/domain/lifecycle.ts";
import { useFollow } from "../app/follow.ts";
import { sshKeys } from "../app/queries.ts";
import { isUsable } from "../allowed/instances.ts";

export function FirstSteps({ servers }: { servers: readonly ListedServer[] }) {
  const keys = useQuery(sshKeys.list({ per_page: 1 }));
  const hasKey = servers.length > 0 || (keys.data?.meta.total ?? 0) > 0;
  const active = servers.some(isUsable);
  return (
    <Container header={<Header variant="h2">Launch your first instance in three steps</Header>}>
      <ol className="plain">
        <Step done={hasKey} next={!hasKey} title="1. Add your SSH key" button="Add SSH key" href="/settings/ssh-keys">
          Lets you log in to your servers over SSH. Paste your public key only.
        </Step>
        <ServerStep servers={servers} ready={hasKey} />
        <Step done={false} next={active} title="3. Create an instance" button="Create instance" href="/instances/create">
          Odoo with its own database and domain, running on your server.
        </Step>
      </ol>
    </Container>
  );
}

function ServerStep({ servers, ready }: { servers: readonly ListedServer[]; ready: boolean }) {
  const [first] = servers;
  const title = "2. Create a server";
  if (first === undefined)
    return (
      <Step done={false} next={ready} title={title} button="Create server" href="/servers/create">
        A machine at a provider of your choice, where your instances run.
      </Step>
    );
  const underWay = servers.some(({ status }) => status === SERVER_PHASES[LIFECYCLE["server.create"].through]);
  return (
    <Step done={servers.some(isUsable)} next={!underWay} title={title} button="View servers" href="/servers">
      {underWay ? "Your server is being created. This takes a few minutes." : "Your server is offline. Open it to see why."}
    </Step>
  );
}

interface StepProps {
  done: boolean;
  /** Whether it is this step's turn. */
  next: boolean;
  title: string;
  button: string;
  href: string;
  children: ReactNode;
}

function Step({ done, next, title, button, href, children }: StepProps) {
  const follow = useFollow();
  return (
    <li>
      <SpaceBetween size="xs">
        <SpaceBetween direction="horizontal" size="xs" alignItems="center">
          <Box variant="h3" padding="n">
            {title}
          </Box>
          {done && <StatusIndicator type="success">Done</StatusIndicator>}
        </SpaceBetween>
        {!done && <Box color="text-body-secondary">{children}</Box>}
        {next && !done && (
          <Button variant="primary" href={href} onFollow={follow}>
            {button}
          </Button>
        )}
      </SpaceBetween>
    </li>
  );
}
