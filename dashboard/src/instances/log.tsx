// What the ERP of an instance, its database and its proxy have logged: with levels, a search, as it comes, and as a file. Tenants
// and visitors write it: it is shown as text.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import ToggleButton from "@cloudscape-design/components/toggle-button";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ClientError } from "../../../shared/api/client-of.ts";
import type { Instance } from "../../../shared/api/instances.ts";
import {
  contains,
  LOG_LEVELS,
  LOG_SOURCES,
  type LogLevel,
  type LogLine,
  type LogSource,
  reaches,
} from "../../../shared/domain/log-levels.ts";
import { LOG_READS } from "../../../shared/domain/limits.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { retryAfterSeconds } from "../app/limit.ts";
import { useMissing } from "../app/may.tsx";
import { instances } from "../app/queries.ts";
import { isTransient } from "../app/words.ts";
import { text } from "../messages/text.ts";
import { saveFile } from "../resource/list/csv.ts";
import { Section } from "../resource/page/section.tsx";
import { formatFullTime } from "../resource/words/moment.ts";
import { useSettled } from "../resource/page/use-pages.ts";

export function InstanceLog({ instance: { id, name } }: { instance: Pick<Instance, "id" | "name"> }) {
  const say = text.logs;
  const [level, setLevel] = useState<LogLevel>("debug");
  const [search, setSearch] = useState("");
  const [source, setSource] = useState<LogSource>("erp");
  const [isFollowed, setFollowed] = useState(false);
  const searchText = search.trim();
  const settled = useSettled(searchText.slice(0, SEARCHED_MAX), SEARCH_PAUSE_MS);
  const { data, error: unread, isFetching, refetch } = useLog(id, source, settled);
  const again = () => void refetch();
  const tail = useTail(id, source, isFollowed ? data?.data.next : undefined);
  const error = unread ?? tail.error;
  const lines = newest([...(data?.data.lines ?? []), ...tail.lines]);
  const matching = lines.filter((line) => reaches(line.level, level) && contains(line, searchText));
  const isSearching = isFetching || settled !== searchText.slice(0, SEARCHED_MAX);
  return (
    <Section
      title={say.title}
      description={say.about}
      counter={data && `(${say.counter(matching.length, lines.length)})`}
      actions={
        <Controls
          followed={isFollowed}
          onFollow={setFollowed}
          reading={isFetching}
          onRead={again}
          onSave={matching.length === 0 ? undefined : () => saveFile(fileName(name), toText(matching), "plain")}
        />
      }
    >
      <SpaceBetween size="s">
        {error !== null && !isFetching && <Failure error={error} retry={again} />}
        <div className="filters">
          <div className="filter find">
            <Search search={search} onChange={setSearch} />
          </div>
          <div className="filter">
            <SourceFilter source={source} onChange={setSource} />
          </div>
          <div className="filter">
            <LevelFilter level={level} onChange={setLevel} />
          </div>
        </div>
        {data?.data.truncated && <Box variant="small">{say.older}</Box>}
        {tail.hasGap && <Box variant="small">{say.gap}</Box>}
        {data !== undefined && matching.length === 0 ? (
          <Nothing isSearching={isSearching} isEmpty={lines.length === 0 && searchText === ""} />
        ) : (
          <LogLines lines={matching} />
        )}
      </SpaceBetween>
    </Section>
  );
}

const Nothing = ({ isSearching, isEmpty }: { isSearching: boolean; isEmpty: boolean }) => (
  <Box color="text-status-inactive">
    {isSearching ? text.shell.search.searching : isEmpty ? text.logs.none : text.logs.noMatch}
  </Box>
);

/** Each search reads the log again, which may be done ten times a minute. */
const SEARCH_PAUSE_MS = 1_000;
/** The longest search that the API takes; the page filters by the rest. */
const SEARCHED_MAX = 200;

/** The page filters what it has at once; the service also looks through what is older than that. */
const useLog = (id: string, source: LogSource, search: string) =>
  useQuery({
    ...instances.log(id, { source, lines: LOG_READS.linesMax, ...(search !== "" && { search }) }),
    gcTime: 0, // a log goes on: what was read earlier is not what a search finds now
    placeholderData: (before, of) =>
      of?.queryKey.includes(id) === true && of.queryKey.some((part) => isOfSource(part, source)) ? before : undefined,
  });

/** Whether a part of a query's key asks for this log. */
const isOfSource = (part: unknown, source: LogSource): boolean =>
  typeof part === "object" && part !== null && "source" in part && part.source === source;

/** A tenant may write much and long. */
const CHARACTERS_MAX = 4_000_000;

/** Returns as many of the last messages as a page can show. */
function newest(lines: readonly LogLine[]): LogLine[] {
  let room = CHARACTERS_MAX;
  const last = lines.slice(-LOG_READS.linesMax);
  const tooMuch = last.findLastIndex(({ message }) => {
    room -= message.length;
    return room < 0;
  });
  return last.slice(tooMuch + 1);
}

interface ControlsProps {
  followed: boolean;
  onFollow: (followed: boolean) => void;
  reading: boolean;
  onRead: () => void;
  /** Undefined if there is nothing to save. */
  onSave: (() => void) | undefined;
}

const Controls = ({ followed, onFollow, reading, onRead, onSave }: ControlsProps) => (
  <SpaceBetween direction="horizontal" size="xs">
    <Button disabled={onSave === undefined} iconName="download" onClick={() => onSave?.()}>
      {text.logs.download}
    </Button>
    <ToggleButton pressed={followed} onChange={({ detail }) => onFollow(detail.pressed)}>
      {text.logs.follow}
    </ToggleButton>
    <Button iconName="refresh" loading={reading} onClick={onRead}>
      {text.logs.refresh}
    </Button>
  </SpaceBetween>
);

const Search = ({ search, onChange }: { search: string; onChange: (search: string) => void }) => (
  <Input
    type="search"
    ariaLabel={text.logs.search}
    placeholder={text.logs.searchPlaceholder}
    value={search}
    onChange={({ detail }) => onChange(detail.value)}
  />
);

/** More often than ten times a minute, nobody may read the log of an instance. */
const PAUSE_MS = 6_500;
const FOLLOW_SECONDS = 20;

/** Follows a log behind a position, and returns its lines as they come; none without a position. */
function useTail(id: string, source: LogSource, from: string | undefined) {
  const [tail, setTail] = useState<Tail>(EMPTY_TAIL);
  useEffect(() => {
    if (from === undefined) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    setTail({ ...EMPTY_TAIL, from });
    const follow = async (): Promise<void> => {
      let pauseMs = PAUSE_MS;
      for (let after = from; !signal.aborted;) {
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        if (signal.aborted) return;
        const query = { source, after, follow: FOLLOW_SECONDS, lines: LOG_READS.linesMax };
        try {
          const { data } = await client.instances.logs({ params: { id }, query, signal });
          pauseMs = PAUSE_MS;
          after = data.next;
          setTail(({ lines, hasGap, from: of }) => ({
            from: of,
            lines: newest([...lines, ...data.lines]),
            hasGap: hasGap || data.truncated,
            error: null,
          }));
        } catch (error) {
          if (signal.aborted) return;
          setTail((before) => ({ ...before, error: error instanceof Error ? error : new Error(String(error)) }));
          if (!isTransient(error) && retryAfterSeconds(error) === undefined) return;
          const wait = error instanceof ClientError ? error.retryAfter : undefined;
          pauseMs = Math.max(PAUSE_MS, (wait ?? 0) * 1000);
        }
      }
    };
    void follow();
    return () => controller.abort();
  }, [id, source, from]);
  return tail.from === from ? tail : EMPTY_TAIL;
}
interface Tail {
  from: string | undefined;
  lines: LogLine[];
  /** Messages in between are no longer there. */
  hasGap: boolean;
  error: Error | null;
}
const EMPTY_TAIL: Tail = { from: undefined, lines: [], hasGap: false, error: null };

function SourceFilter({ source, onChange }: { source: LogSource; onChange: (source: LogSource) => void }) {
  const say = text.logs;
  const isMissing = useMissing()("backups:restore") !== undefined;
  const options = LOG_SOURCES.map((value) => ({
    value,
    label: say.sources[value],
    ...(value === "database" && isMissing && { disabled: true, disabledReason: say.withData }),
  }));
  return (
    <Select
      ariaLabel={say.source}
      options={options}
      selectedOption={options.find(({ value }) => value === source) ?? null}
      onChange={({ detail }) => onChange(LOG_SOURCES.find((each) => each === detail.selectedOption.value) ?? source)}
    />
  );
}

function LevelFilter({ level, onChange }: { level: LogLevel; onChange: (level: LogLevel) => void }) {
  const options = LOG_LEVELS.map((value) => ({ value, label: text.logs.levels[value] }));
  return (
    <Select
      ariaLabel={text.logs.level}
      options={options}
      selectedOption={options.find(({ value }) => value === level) ?? null}
      onChange={({ detail }) => onChange(LOG_LEVELS.find((each) => each === detail.selectedOption.value) ?? level)}
    />
  );
}

/** The newest ones are at the end, as in a terminal. It can be scrolled with the keyboard. */
const LogLines = ({ lines }: { lines: readonly LogLine[] }) => (
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must take the focus, or the keyboard cannot scroll it
  <div className="log" role="region" aria-label={text.logs.title} tabIndex={0}>
    {lines.map(({ at, level, logger, message }, index) => (
      <div key={index}>
        <time dateTime={at}>{formatFullTime(at)}</time> <Level of={level} /> {logger !== null && <b>{logger}: </b>}
        {message}
      </div>
    ))}
  </div>
);

const INDICATORS = { debug: "pending", info: "info", warning: "warning", error: "error", critical: "error" } as const;

/** Shows the level in the language of the log, by which people search for it. */
const Level = ({ of: level }: { of: LogLevel | null }) =>
  level !== null && <StatusIndicator type={INDICATORS[level]}>{level.toUpperCase()}</StatusIndicator>;

const fileName = (name: string): string =>
  `${name.replaceAll(/[^\p{L}\p{N}._-]+/gu, "-")}-${new Date().toISOString().replaceAll(":", "-").slice(0, 19)}.log`;

const toText = (lines: readonly LogLine[]): string =>
  lines
    .map(({ at, level, logger, message }) => {
      const head = [at, level?.toUpperCase(), logger && `${logger}:`].filter((part) => typeof part === "string");
      return `${head.join(" ")} ${message}\n`;
    })
    .join("");
