// What can be changed about an instance, and what it is called where it runs.
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { ShownInstance } from "../../../shared/api/instances.ts";
import { type ServerOf, whyNot, whyNotEdit } from "../allowed/instances.ts";
import { INSTANCE_NEEDS } from "../allowed/needs.ts";
import { text } from "../messages/text.ts";
import { Action } from "../resource/page/action.tsx";
import { Section } from "../resource/page/section.tsx";
import { AsciiAndUnicode } from "../resource/words/ascii-and-unicode.tsx";
import { Copyable } from "../resource/words/copyable.tsx";
import { Labels } from "../resource/list/labels.tsx";
import { sizeInWords } from "../resource/words/size.ts";
import { Time } from "../resource/words/time.tsx";
import type { Dialog } from "./dialogs.tsx";

interface Props {
  instance: ShownInstance;
  server: ServerOf | undefined;
  onAsk: (dialog: Dialog) => void;
}

export const InstanceSettings = (props: Props) => (
  <SpaceBetween size="l">
    <Details {...props} />
    <Domain {...props} />
    <Deletion {...props} />
  </SpaceBetween>
);

function Details({ instance, onAsk }: Props) {
  const { fields, copied, facts, actions, settings: say } = text.instances;
  const { disk_quota_bytes: quota } = instance;
  return (
    <Section
      title={facts.title}
      actions={
        <Action needs={INSTANCE_NEEDS.edit} disabledReason={whyNotEdit(instance)} onClick={() => onAsk("edit")}>
          {actions.edit}
        </Action>
      }
    >
      <KeyValuePairs
        columns={3}
        minColumnWidth={200}
        items={[
          { label: fields.name, value: instance.name },
          {
            label: fields.adminEmail,
            value: <Copyable value={instance.admin_email} display={instance.admin_email_unicode} valueName={copied.adminEmail} />,
          },
          { label: say.diskQuota, value: quota === null ? say.noQuota : sizeInWords(quota) },
          { label: text.resource.labels.title, value: <Labels of={instance.labels} /> },
          { label: fields.databaseName, value: <Copyable value={instance.database_name} valueName={copied.databaseName} code /> },
          { label: fields.id, value: <Copyable value={instance.id} valueName={copied.id} code /> },
        ]}
      />
    </Section>
  );
}

function Domain({ instance, server, onAsk }: Props) {
  const { fields, facts, actions } = text.instances;
  const { domain, previous_domains: previous } = instance;
  return (
    <Section
      title={fields.domain}
      actions={
        <Action needs={INSTANCE_NEEDS.domain} disabledReason={whyNot("update", instance, server)} onClick={() => onAsk("domain")}>
          {actions.domain}
        </Action>
      }
    >
      <KeyValuePairs
        columns={3}
        minColumnWidth={200}
        items={[
          { label: fields.domain, value: <Copyable value={domain} valueName={fields.domain} /> },
          ...(previous.length === 0
            ? []
            : [
                {
                  label: fields.previousDomains,
                  value: previous.map(({ domain: before, domain_unicode, redirects_until: until }) => (
                    <div key={before}>
                      {facts.redirects(<AsciiAndUnicode ascii={before} unicode={domain_unicode} />, <Time at={until} exact />)}
                    </div>
                  )),
                },
              ]),
        ]}
      />
    </Section>
  );
}

function Deletion({ instance, server, onAsk }: Props) {
  const { actions, delete: say } = text.instances;
  return (
    <Section
      title={actions.delete}
      description={say.about(instance.domain)}
      actions={
        <Action needs={INSTANCE_NEEDS.delete} disabledReason={whyNot("delete", instance, server)} onClick={() => onAsk("delete")}>
          {say.title}
        </Action>
      }
    />
  );
}
