// The details of an instance.
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { Instance, ShownInstance } from "../../../shared/api/instances.ts";
import type { ServerOf } from "../allowed/instances.ts";
import { Link } from "../app/link.tsx";
import { useNarrow } from "../app/narrow.ts";
import { backupTime } from "../backups/words.ts";
import { text } from "../messages/text.ts";
import { Help } from "../resource/words/help.tsx";
import { Labels } from "../resource/list/labels.tsx";
import { Section } from "../resource/page/section.tsx";
import { sizeInWords } from "../resource/words/size.ts";
import { Status } from "../resource/words/status.tsx";
import { Summary } from "../resource/words/summary.tsx";
import { Time } from "../resource/words/time.tsx";
import { Address } from "./address.tsx";
import { certificateFacts } from "./certificate.tsx";
import { healthFacts } from "./health.tsx";
import { ServerLink } from "./server-link.tsx";

function placeFacts({ server_id, erp_version, edition }: ShownInstance, server: ServerOf | undefined) {
  const { fields } = text.instances;
  return [
    { label: fields.server, value: <ServerLink id={server_id} server={server} /> },
    { label: fields.version, value: text.instances.create.odoo(`${erp_version} ${edition}`) },
  ];
}

/** Shows facts of the instance beside its name. */
export function InstanceSummary({ instance, server }: { instance: ShownInstance; server: ServerOf | undefined }) {
  const { fields } = text.instances;
  return (
    <Summary
      facts={[
        { label: fields.status, value: <Status of="instance" status={instance.status} /> },
        ...placeFacts(instance, server).map((fact) => ({ ...fact, minor: true })),
        { label: fields.url, value: <Address of={instance} /> },
      ]}
    />
  );
}

export function Facts({ instance, server }: { instance: ShownInstance; server: ServerOf | undefined }) {
  const narrow = useNarrow();
  const { fields, facts: say } = text.instances;
  const { cloned_from_backup_id: origin, neutralized } = instance;
  return (
    <Section title={say.title}>
      <KeyValuePairs
        columns={3}
        minColumnWidth={200}
        items={[
          ...(narrow ? placeFacts(instance, server) : []),
          ...healthFacts(instance),
          ...certificateFacts(instance.certificate),
          { label: fields.disk, value: <DiskUse of={instance} /> },
          ...missingModuleFacts(instance),
          ...imageFacts(instance),
          { label: fields.created, value: <Time at={instance.created_at} exact /> },
          ...(origin === null
            ? []
            : [
                {
                  label: fields.createdFrom,
                  value: <Origin of={instance} backupId={origin} />,
                },
              ]),
          {
            label: fields.outgoing,
            info: <Help about={say.neutralization}>{say.neutralizationAbout}</Help>,
            value: neutralized ? say.off : say.unchanged,
          },
          { label: text.resource.labels.title, value: <Labels of={instance.labels} /> },
        ]}
      />
    </Section>
  );
}

const missingModuleFacts = ({ missing_modules }: Instance) =>
  missing_modules === null || missing_modules.length === 0
    ? []
    : [
        {
          label: text.instances.fields.missingModules,
          value: <StatusIndicator type="warning">{missing_modules.join(", ")}</StatusIndicator>,
        },
      ];

/** Nothing as long as that is unknown. */
function imageFacts({ id, update_available }: Instance) {
  const { fields, facts: say } = text.instances;
  if (typeof update_available !== "boolean") return [];
  const value = update_available ? (
    <StatusIndicator type="info">
      <Link to={`/instances/${id}?tab=code`}>{say.newerImage}</Link>
    </StatusIndicator>
  ) : (
    say.newestImage
  );
  return [{ label: fields.image, value }];
}

function DiskUse({ of: { disk_used_bytes: used, disk_quota_bytes: quota } }: { of: Instance }) {
  const inWords = used === null ? text.reports.none : sizeInWords(used);
  if (quota === null) return inWords;
  const ofQuota = text.reports.ofQuota(inWords, sizeInWords(quota));
  return used !== null && used > quota ? <StatusIndicator type="warning">{ofQuota}</StatusIndicator> : ofQuota;
}

/** The backup and its instance may have been deleted since. */
function Origin({ of: { cloned_from }, backupId }: { of: ShownInstance; backupId: string }) {
  const say = text.instances.facts;
  if (cloned_from === null) return say.deletedBackup;
  const { instance_id, instance_name } = cloned_from;
  if (instance_id === null) return <Link to={`/backups?backup=${backupId}`}>{say.uploadedBackup}</Link>;
  return say.backupOf(<Link to={`/instances/${instance_id}`}>{instance_name}</Link>, backupTime(cloned_from));
}
