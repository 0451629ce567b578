// The DNS record of an instance's domain, and what happens until it exists.
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { Instance } from "../../../shared/api/instances.ts";
import { text } from "../messages/text.ts";
import { Section } from "../resource/page/section.tsx";
import { Help } from "../resource/words/help.tsx";
import { Copyable } from "../resource/words/copyable.tsx";
import { CertificateCheck } from "./certificate.tsx";

export function DnsRecord({ instance }: { instance: Instance }) {
  const say = text.instances.dns;
  return (
    <Section title={say.title} description={say.description} info={<Help about={say.title}>{say.about}</Help>}>
      <SpaceBetween size="m">
        <RecordToSet record={instance.dns_record} />
        {instance.certificate.status === "pending" && <div>{say.until}</div>}
        <CertificateCheck instance={instance} />
      </SpaceBetween>
    </Section>
  );
}

interface Props {
  /** Without a name, it is for a domain that the user still has to choose. */
  record: Instance["dns_record"];
}

export function RecordToSet({ record: { type, name, value } }: Props) {
  const { dns: say, copied } = text.instances;
  return (
    <KeyValuePairs
      columns={3}
      minColumnWidth={200}
      items={[
        { label: say.type, value: <Copyable value={type} valueName={copied.recordType} code /> },
        { label: say.name, value: name === "" ? say.newDomain : <Copyable value={name} valueName={copied.recordName} code /> },
        {
          label: say.value,
          value: value === null ? say.noAddress : <Copyable value={value} valueName={copied.recordValue} code />,
        },
      ]}
    />
  );
}
