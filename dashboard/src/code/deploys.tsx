// The deploys of an instance, newest first.
import { useState } from "react";
import type { Deploy } from "../../../shared/api/deploys.ts";
import type { ShownInstance } from "../../../shared/api/instances.ts";
import { DEPLOY_STATUS } from "../../../shared/domain/lifecycle.ts";
import { type ServerOf, whyNot } from "../allowed/instances.ts";
import { INSTANCE_NEEDS } from "../allowed/needs.ts";
import { lazily } from "../app/lazily.tsx";
import { Link } from "../app/link.tsx";
import { text } from "../messages/text.ts";
import type { Column } from "../resource/list/column.ts";
import { ListFilters } from "../resource/list/list-filters.tsx";
import { menuColumn } from "../resource/list/list-page.tsx";
import { formatTime } from "../resource/words/moment.ts";
import { RowMenu } from "../resource/list/row-menu.tsx";
import { shownOf, Status } from "../resource/words/status.tsx";
import { ResourceTable } from "../resource/list/table.tsx";
import { Wrapped } from "../resource/words/wrapped.tsx";
import { listDeploys, narrowDeploys } from "./filters.tsx";
import { commitsInWords, downtimeInWords, modulesInWords, triggerInWords } from "./words.ts";

const Rollback = lazily(async () => (await import("./rollback.tsx")).Rollback);

interface Props {
  instance: ShownInstance;
  server: ServerOf | undefined;
}

export function DeploysTable({ instance, server }: Props) {
  const say = text.code.deploys;
  const columns: [Column<Deploy>, ...Column<Deploy>[]] = [
    {
      id: "when",
      header: say.columns.when,
      cell: ({ id, created_at }) => <Link to={`/deploys/${id}`}>{formatTime(created_at)}</Link>,
      text: ({ created_at }) => created_at,
    },
    {
      id: "status",
      header: say.columns.status,
      cell: ({ status }) => <Status of="deploy" status={status} />,
      text: ({ status }) => shownOf("deploy", status).word,
    },
    {
      id: "trigger",
      header: say.columns.trigger,
      cell: ({ trigger }) => triggerInWords(trigger),
      text: ({ trigger }) => triggerInWords(trigger),
    },
    {
      id: "commits",
      header: say.columns.commits,
      cell: (deploy) => <Wrapped>{commitsInWords(deploy) || "–"}</Wrapped>,
      text: commitsInWords,
      isEmpty: (deploy) => commitsInWords(deploy) === "",
    },
    {
      id: "modules",
      header: say.columns.modules,
      cell: (deploy) => <Wrapped>{modulesInWords(deploy) || "–"}</Wrapped>,
      text: modulesInWords,
      isEmpty: (deploy) => modulesInWords(deploy) === "",
    },
    { id: "downtime", header: say.columns.downtime, cell: downtimeInWords, text: downtimeInWords },
    menuColumn((deploy) => <DeployMenu {...{ deploy, instance, server }} />),
  ];
  return (
    <ResourceTable
      title={say.title}
      description={say.about}
      list={listDeploys(instance.id)}
      searchable
      Filters={ListFilters}
      narrowing={narrowDeploys()}
      columns={columns}
      nameOf={({ created_at }) => say.at(formatTime(created_at))}
      empty={say.empty}
      prefix="deploys"
    />
  );
}

/** The user can go back only to a deploy that has reached the ERP. */
function DeployMenu({ deploy, instance, server }: Props & { deploy: Deploy }) {
  const [isOpen, setIsOpen] = useState(false);
  const disabledReason = whyNot("deploy", instance, server);
  const rollback = { id: "rollback", text: text.code.rollback.action, disabledReason, needs: INSTANCE_NEEDS.deploy };
  return (
    <>
      <RowMenu
        label={text.resource.list.actionsOn(text.code.deploys.at(formatTime(deploy.created_at)))}
        items={deploy.status === DEPLOY_STATUS.completed ? [rollback] : []}
        onChoose={() => setIsOpen(true)}
      />
      {isOpen && <Rollback deploy={deploy} instance={instance} onDismiss={() => setIsOpen(false)} />}
    </>
  );
}
