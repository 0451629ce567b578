// How the size of an instance's backups has changed.
import Box from "@cloudscape-design/components/box";
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import { RESTORABLE } from "../../../shared/domain/lifecycle.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import { Failure } from "../app/failure.tsx";
import { backups } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { Chart } from "../metrics/chart.tsx";
import { useZone } from "../resource/words/moment.ts";
import { sizesIn } from "./sizes-in.ts";

export function BackupSizes({ instanceId }: { instanceId: string }) {
  const say = text.metrics.backups;
  useZone();
  const { data, error, refetch } = useQuery(
    backups.listOf(instanceId)({ status: RESTORABLE[0], page: 1, per_page: PER_PAGE_MAX }),
  );
  if (data === undefined)
    return error === null ? <Spinner size="large" /> : <Failure error={error} retry={() => void refetch()} />;
  const sizes = sizesIn(data.data);
  if (sizes === undefined) return <Box color="text-body-secondary">{say.none}</Box>;
  const { values, ...metrics } = sizes;
  return (
    <Chart
      title={say.title}
      description={say.about}
      metrics={metrics}
      lines={[{ name: "backup_bytes", unit: "bytes", values }]}
    />
  );
}
