// What applies to a server or an instance: its open alerts, what opens one, and where to change that.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useQuery } from "@tanstack/react-query";
import type { Alert } from "../../../shared/api/alerts.ts";
import {
  ALERT,
  ALERT_KIND_NAMES,
  ALERT_KINDS,
  type AlertResource,
  type AlertSettings,
  listThresholds,
} from "../../../shared/domain/alerts.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import { Failure } from "../app/failure.tsx";
import { Link } from "../app/link.tsx";
import { alerts, alertSettings } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { useKeepFocus } from "../resource/dialog/dialog.tsx";
import { Time } from "../resource/words/time.tsx";
import { Mute } from "./mute.tsx";
import { kindInWords, valueInWords } from "./words.ts";

interface Props {
  type: AlertResource;
  id: string;
  name: string;
  onDismiss: () => void;
}

export function ResourceAlerts({ type, id, name, onDismiss }: Props) {
  const say = text.alerts.tell;
  useKeepFocus();
  const open = useQuery(alerts.list({ status: ALERT.open, resource_id: id, per_page: PER_PAGE_MAX }));
  const settings = useQuery(alertSettings());
  const failed = [open, settings].find(({ error }) => error !== null);
  return (
    <Modal
      visible
      header={say.title(name)}
      onDismiss={onDismiss}
      footer={
        <Box float="right">
          <Button variant="primary" onClick={onDismiss}>
            {say.close}
          </Button>
        </Box>
      }
    >
      {failed !== undefined ? (
        <Failure error={failed.error} retry={() => void failed.refetch()} />
      ) : open.data === undefined || settings.data === undefined ? (
        <Spinner size="large" />
      ) : (
        <SpaceBetween size="m">
          <Box variant="p">{say.about}</Box>
          <Box variant="h3">{say.open}</Box>
          <OpenAlerts alerts={open.data.data} />
          <Box variant="h3">{say.watched}</Box>
          <Watched type={type} settings={settings.data.data} />
          <SpaceBetween direction="horizontal" size="m">
            <Link to={`/alerts?resource=${id}`}>{say.all}</Link>
            <Link to="/settings/alerts">{say.settings}</Link>
            <Link to="/settings/account">{say.mail}</Link>
          </SpaceBetween>
        </SpaceBetween>
      )}
    </Modal>
  );
}

function OpenAlerts({ alerts: all }: { alerts: readonly Alert[] }) {
  const say = text.alerts.tell;
  if (all.length === 0) return say.none;
  return (
    <ul className="plain" aria-label={say.open}>
      {all.map((alert) => (
        <li key={alert.id}>
          <StatusIndicator type="warning">{kindInWords(alert.kind)}</StatusIndicator> {valueInWords(alert)}{" "}
          <Time at={alert.opened_at} /> <Mute alert={alert} />
        </li>
      ))}
    </ul>
  );
}

function Watched({ type, settings }: { type: AlertResource; settings: AlertSettings }) {
  const say = text.alerts.tell;
  return (
    <ul className="plain" aria-label={say.watched}>
      {ALERT_KIND_NAMES.filter((kind) => ALERT_KINDS[kind].about.includes(type)).map((kind) => {
        const thresholds = listThresholds(kind, settings);
        const steps = thresholds.filter((each) => each !== null);
        return (
          <li key={kind}>
            {kindInWords(kind)}
            {thresholds.length === 0 && ` (${say.off})`}
            {steps.length > 0 && `: ${steps.join(", ")}`}
          </li>
        );
      })}
    </ul>
  );
}
