// The DNS record of an instance's domain, and what happens until it exists.
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { Instance } from "../../../shared/api/instances.ts";
import { Copyable } from "../resource/copyable.tsx";

export function DnsRecord({ instance: { dns_record } }: { instance: Instance }) {
  return (
    <Container
      header={
        <Header variant="h2" description="Add this record at your registrar or DNS provider.">
          DNS record
        </Header>
      }
    >
      <SpaceBetween size="m">
        <RecordToSet record={dns_record} />
        <div>
          Nobody can reach the instance until this record exists. Once it does, a TLS certificate is issued automatically within
          minutes.
        </div>
      </SpaceBetween>
    </Container>
  );
}

interface Props {
  /** Without a name, it is for a domain that the user still has to choose. */
  record: Instance["dns_record"];
}

export function RecordToSet({ record: { type, name, value } }: Props) {
  return (
    <KeyValuePairs
      columns={3}
      minColumnWidth={200}
      items={[
        { label: "Type", value: <Copyable value={type} what="record's type" code /> },
        { label: "Name", value: name === "" ? "The new domain" : <Copyable value={name} what="record's name" code /> },
        {
          label: "Value",
          value: value === null ? "Waiting for the server's IP address" : <Copyable value={value} what="record's value" code />,
        },
      ]}
    />
  );
}
