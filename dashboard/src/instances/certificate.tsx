// The certificate of an instance's domain, as its server last reported it.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import { useQuery } from "@tanstack/react-query";
import type { Certificate, Instance } from "../../../shared/api/instances.ts";
import { instances } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { Status } from "../resource/words/status.tsx";
import { Time } from "../resource/words/time.tsx";
import { MINUTE_MS } from "../../../shared/domain/durations.ts";

/** Returns the facts of the certificate for the details of the instance. */
export function certificateFacts({ status, expires_at }: Certificate) {
  const { label, expires } = text.reports.certificate;
  return [
    { label, value: <Status of="certificate" status={status} /> },
    ...(expires_at === null ? [] : [{ label: expires, value: <Time at={expires_at} exact /> }]),
  ];
}

/** A report is no change that pages follow. */
const CERTIFICATE_POLL_MS = MINUTE_MS;

/** Shows when the server last looked, and what to do if it fails, until the certificate is valid. */
export function CertificateCheck({ instance: { id, domain, certificate } }: { instance: Instance }) {
  useQuery({ ...instances.one(id), refetchInterval: CERTIFICATE_POLL_MS });
  const { failing, leaves, checked, unchecked } = text.reports.certificate;
  return (
    <>
      {certificate.status === "failing" && (
        <Alert type="warning" header={failing.title}>
          {failing.about(domain)}
        </Alert>
      )}
      <Box color="text-body-secondary">{leaves}</Box>
      <Box color="text-body-secondary">
        {checked}: <Time at={certificate.checked_at} exact none={unchecked} />
      </Box>
    </>
  );
}
