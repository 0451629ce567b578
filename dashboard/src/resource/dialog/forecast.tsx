// What a request would do, from its dry run: shown before the user confirms it.
import Box from "@cloudscape-design/components/box";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import Spinner from "@cloudscape-design/components/spinner";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { ClientError } from "../../../../shared/api/client-of.ts";
import type { DryRun } from "../../../../shared/api/dry-run.ts";
import type { SentenceCode } from "../../../../shared/domain/sentences.ts";
import { Failure } from "../../app/failure.tsx";
import { problemsOf, spanInWords, describeError } from "../../app/words.ts";
import { text } from "../../messages/text.ts";
import { formatCount } from "../words/number.ts";
import { sentenceOf } from "../words/sentence.ts";
import { sizeInWords } from "../words/size.ts";
import { Times } from "../words/time.tsx";

/** Sends the dry run. */
export type Rehearse = () => Promise<{ data: DryRun }>;

interface Props {
  rehearse: Rehearse;
  /** What the request depends on: another one is another dry run. */
  of: readonly unknown[];
  /** Whether the ERP comes back by itself, so that the time until then is of interest. */
  returns?: boolean;
  /** Sentences of the dry run for which the dialog has better words; empty for what it says elsewhere. */
  words?: Partial<Record<SentenceCode, string>>;
  /** Whether an error of a field is not repeated here. */
  isAtField?: (field: string) => boolean;
}

export function Forecast({ rehearse, of, returns = true, words = {}, isAtField = () => false }: Props) {
  // Always fetched anew: what was allowed a minute ago may not be any more. The last one stays visible while the next is fetched.
  const { data, error, refetch } = useQuery({
    queryKey: ["dry-run", ...of],
    queryFn: rehearse,
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  });
  // The error of the request itself, ahead of time. If the user sends it all the same, that error is shown as one.
  if (error instanceof ClientError && [409, 422].includes(error.status)) {
    const problems = problemsOf(error);
    const isRepeated = problems.length > 0 && problems.every(({ field }) => isAtField(field));
    return !isRepeated && <Warnings of={[describeError(error).text]} />;
  }
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Spinner />;
  const say = text.resource.forecast;
  const { effects, downtime_seconds, disk_bytes, next_runs } = data.data;
  const sentences: Readonly<Record<string, string | undefined>> = words;
  const lines = effects
    .map((effect) => sentences[effect.code] ?? sentenceOf(effect, effect.detail))
    .filter((line) => line !== "");
  return (
    <div aria-live="polite">
      <KeyValuePairs
        items={[
          ...(lines.length === 0 ? [] : [{ label: say.effects, value: <Lines lines={lines} /> }]),
          ...(returns ? [{ label: say.downtime, value: downtimeInWords(downtime_seconds) }] : []),
          ...(next_runs === undefined ? [] : [{ label: say.nextRuns, value: <Times times={next_runs} none={say.never} /> }]),
          ...(disk_bytes === null || disk_bytes === 0 ? [] : [{ label: say.disk, value: sizeInWords(disk_bytes) }]),
        ]}
      />
      <Warnings of={warningsIn(data.data)} />
    </div>
  );
}

/** An older service sends no reasons. */
const warningsIn = ({ warnings, warning_reasons = [] }: Pick<DryRun, "warnings"> & Partial<DryRun>): string[] =>
  warnings.map((warning, index) => sentenceOf(warning_reasons[index], warning));

/** The design system breaks lines anywhere. */
const WHOLE_WORDS = { overflowWrap: "anywhere", wordBreak: "normal" } as const;

/** All of them, since the last one may be the worst. A bulk action may warn of a thousand resources by name: then they scroll. */
function Warnings({ of: warnings }: { of: readonly string[] }) {
  const box = useRef<HTMLDivElement>(null);
  const [scrolls, setScrolls] = useState(false);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) =>
      setScrolls(entry !== undefined && entry.target.scrollHeight > entry.target.clientHeight),
    );
    if (box.current !== null) observer.observe(box.current);
    return () => observer.disconnect();
  }, [warnings]);
  if (warnings.length === 0) return null;
  return (
    <div
      ref={box}
      className="warnings"
      role="region"
      aria-label={text.resource.forecast.warnings}
      // What scrolls must take the focus, or the keyboard cannot scroll it.
      {...(scrolls && { tabIndex: 0 })}
    >
      {warnings.map((warning) => (
        <Box key={warning} margin={{ top: "xs" }}>
          <StatusIndicator type="warning" wrapText>
            <span style={WHOLE_WORDS}>{warning}</span>
          </StatusIndicator>
        </Box>
      ))}
    </div>
  );
}

function downtimeInWords(seconds: number | null): string {
  const { unknown, none, about } = text.resource.forecast;
  return seconds === null ? unknown : seconds === 0 ? none : about(spanInWords(seconds));
}

/** A policy may have hundreds of effects, and a bulk action the same one on many resources. */
const LINES_MAX = 8;
function Lines({ lines }: { lines: readonly string[] }) {
  const counted = [...Map.groupBy(lines, (line) => line)].map(([line, { length }]) => (
    <div key={line}>{length === 1 ? line : `${formatCount(length)} × ${line}`}</div>
  ));
  const otherLines = counted.slice(LINES_MAX);
  return (
    <>
      {counted.slice(0, LINES_MAX)}
      {otherLines.length > 0 && (
        <ExpandableSection headerText={text.resource.forecast.otherEffects(otherLines.length)}>{otherLines}</ExpandableSection>
      )}
    </>
  );
}
