// What a request would do, from its dry run: shown before the user confirms it.
import Box from "@cloudscape-design/components/box";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import Spinner from "@cloudscape-design/components/spinner";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { DryRun } from "../../../shared/api/dry-run.ts";
import { Failure } from "../app/failure.tsx";
import { spanInWords } from "../app/words.ts";
import { sizeInWords } from "./size.ts";

/** Sends the dry run. */
export type Rehearse = () => Promise<{ data: DryRun }>;

interface Props {
  rehearse: Rehearse;
  /** What the request depends on: another one is another dry run. */
  of: readonly unknown[];
  /** Whether the ERP comes back by itself, so that the time until then is of interest. */
  returns?: boolean;
}

export function Forecast({ rehearse, of, returns = true }: Props) {
  // Always fetched anew: what was allowed a minute ago may not be any more. The last one stays visible while the next is fetched.
  const { data, error, refetch } = useQuery({
    queryKey: ["dry-run", ...of],
    queryFn: rehearse,
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  });
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Spinner />;
  const { effects, downtime_seconds, disk_bytes, warnings } = data.data;
  return (
    <div aria-live="polite">
      <KeyValuePairs
        items={[
          { label: "What happens", value: <Lines lines={effects.map(({ detail }) => detail)} /> },
          ...(returns ? [{ label: "Estimated downtime", value: downtimeInWords(downtime_seconds) }] : []),
          ...(disk_bytes === null || disk_bytes === 0 ? [] : [{ label: "Disk space needed", value: sizeInWords(disk_bytes) }]),
        ]}
      />
      {warnings.map((warning) => (
        <Box key={warning} margin={{ top: "xs" }}>
          <StatusIndicator type="warning" wrapText>
            {warning}
          </StatusIndicator>
        </Box>
      ))}
    </div>
  );
}

const downtimeInWords = (seconds: number | null): string =>
  seconds === null ? "Can't be estimated yet" : seconds === 0 ? "None" : `About ${spanInWords(seconds)}`;

const Lines = ({ lines }: { lines: readonly string[] }) => lines.map((line) => <div key={line}>{line}</div>);
