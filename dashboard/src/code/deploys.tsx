// The deploys of an instance, newest first.
import type { Deploy } from "../../../shared/api/deploys.ts";
import { Link } from "../app/link.tsx";
import { deploys } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import type { Column } from "../resource/column.ts";
import { inShort } from "../resource/moment.ts";
import { shownOf, Status } from "../resource/status.tsx";
import { ResourceTable } from "../resource/table.tsx";
import { Wrapped } from "../resource/wrapped.tsx";
import { commitsInWords, downtimeInWords, modulesInWords, triggerInWords } from "./words.ts";

export function DeploysTable({ instanceId }: { instanceId: string }) {
  const say = text.code.deploys;
  const columns: [Column<Deploy>, ...Column<Deploy>[]] = [
    {
      id: "when",
      header: say.columns.when,
      cell: ({ id, created_at }) => <Link to={`/deploys/${id}`}>{inShort(created_at)}</Link>,
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
  ];
  return (
    <ResourceTable
      title={say.title}
      description={say.about}
      list={deploys.listOf(instanceId)}
      columns={columns}
      nameOf={({ created_at }) => say.at(inShort(created_at))}
      empty={say.empty}
      prefix="deploys"
    />
  );
}
