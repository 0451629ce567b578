// The servers and instances that are loaded most, each list with the worst first.
import Box from "@cloudscape-design/components/box";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import { Failure } from "../app/failure.tsx";
import { Link } from "../app/link.tsx";
import { worst } from "../app/queries.ts";
import { text } from "../messages/text.ts";

export function Worst() {
  const say = text.home.worst;
  const { data, error, refetch } = useQuery(worst());
  const found = data?.data;
  return (
    <Container
      header={
        <Header variant="h2" description={found?.complete === false ? say.partly : say.about}>
          {say.title}
        </Header>
      }
    >
      {found === undefined ? (
        error === null ? (
          <Spinner />
        ) : (
          <Failure error={error} retry={() => void refetch()} />
        )
      ) : (
        <ColumnLayout columns={3} minColumnWidth={220}>
          <Ranking title={say.memory} path="/servers" of={found.memory} words={say.percent} />
          <Ranking title={say.disk} path="/servers" of={found.disk} words={say.percent} />
          <Ranking title={say.times} path="/instances" of={found.p95_ms} words={say.milliseconds} />
        </ColumnLayout>
      )}
    </Container>
  );
}

interface RankingProps {
  title: string;
  path: string;
  of: readonly { id: string; name: string; value: number }[];
  words: (value: number) => string;
}

/** Of percent, a bar shows the whole; of all else, the worst fills it. */
function Ranking({ title, path, of: ranked, words }: RankingProps) {
  const whole = words === text.home.worst.percent ? 100 : Math.max(1, ...ranked.map(({ value }) => value));
  return (
    <div>
      <Box variant="h3">{title}</Box>
      {ranked.length === 0 ? (
        <Box color="text-status-inactive">{text.home.worst.none}</Box>
      ) : (
        <ol className="plain">
          {ranked.map(({ id, name, value }) => (
            <li key={id}>
              <Link to={`${path}/${id}?tab=metrics`}>{name}</Link>
              <ProgressBar value={(100 * value) / whole} ariaLabel={`${title}: ${name}`} additionalInfo={words(value)} />
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
