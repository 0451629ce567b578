// What the ERP of an instance has logged: with levels, a search, and as a file. A tenant writes it: it is shown as text.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Instance } from "../../../shared/api/instances.ts";
import { contains, LOG_LEVELS, type LogLevel, type LogLine, reaches } from "../../../shared/domain/log-levels.ts";
import { LOG_READS } from "../../../shared/domain/limits.ts";
import { Failure } from "../app/failure.tsx";
import { instances } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { saveFile } from "../resource/csv.ts";
import { inFull } from "../resource/moment.ts";

export function InstanceLog({ instance: { id, name } }: { instance: Pick<Instance, "id" | "name"> }) {
  const say = text.logs;
  const [level, setLevel] = useState<LogLevel>("debug");
  const [search, setSearch] = useState("");
  const { data, error, isFetching, refetch } = useQuery(instances.log(id, { lines: LOG_READS.linesMax }));
  const again = () => void refetch();
  const lines = data?.data.lines ?? [];
  const shown = lines.filter((line) => reaches(line.level, level) && contains(line, search.trim()));
  return (
    <Container
      header={
        <Header
          variant="h2"
          description={say.about}
          counter={data && `(${say.shown(shown.length, lines.length)})`}
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              <Button
                disabled={shown.length === 0}
                iconName="download"
                onClick={() => saveFile(fileName(name), toText(shown), "plain")}
              >
                {say.download}
              </Button>
              <Button iconName="refresh" loading={isFetching} onClick={again}>
                {say.refresh}
              </Button>
            </SpaceBetween>
          }
        >
          {say.title}
        </Header>
      }
    >
      <SpaceBetween size="s">
        {error !== null && !isFetching && <Failure error={error} retry={again} />}
        <div className="filters">
          <div className="filter find">
            <Input
              type="search"
              ariaLabel={say.search}
              placeholder={say.searchPlaceholder}
              value={search}
              onChange={({ detail }) => setSearch(detail.value)}
            />
          </div>
          <div className="filter">
            <LevelFilter level={level} onChange={setLevel} />
          </div>
        </div>
        {data?.data.truncated && <Box variant="small">{say.older}</Box>}
        {data !== undefined && shown.length === 0 ? (
          <Box color="text-status-inactive">{lines.length === 0 ? say.none : say.noMatch}</Box>
        ) : (
          <LogLines lines={shown} />
        )}
      </SpaceBetween>
    </Container>
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
        <time dateTime={at}>{inFull(at)}</time> <Level of={level} /> {logger !== null && <b>{logger}: </b>}
        {message}
      </div>
    ))}
  </div>
);

const INDICATORS = { debug: "pending", info: "info", warning: "warning", error: "error", critical: "error" } as const;

/** In the language of the log, by which people search for it. */
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
