// Which version of the service this is, and what has changed in it.
import Box from "@cloudscape-design/components/box";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import changelog from "../../../CHANGELOG.md?raw";
import { Failure } from "../app/failure.tsx";
import { useProduct } from "../app/brand.ts";
import { health } from "../app/queries.ts";
import { text } from "../messages/text.ts";

export default function About({ onDismiss }: { onDismiss: () => void }) {
  const say = text.shell.about;
  const { data, error, refetch } = useQuery(health());
  return (
    <Modal visible size="large" header={say.title(useProduct())} onDismiss={onDismiss}>
      <SpaceBetween size="l">
        {error !== null && <Failure error={error} retry={() => void refetch()} />}
        <KeyValuePairs
          columns={3}
          items={[
            { label: say.version, value: data?.data.version ?? "…" },
            { label: say.commit, value: data === undefined ? "…" : (data.data.commit?.slice(0, COMMIT_LENGTH) ?? "–") },
            { label: say.environment, value: data?.data.environment ?? "…" },
          ]}
        />
        {versionsOf(changelog).map(({ version, sections }) => (
          <div key={version} lang="en">
            <Box variant="h2">{version}</Box>
            {sections.map(({ title, changes }) => (
              <div key={title}>
                {title !== "" && <Box variant="h3">{title}</Box>}
                <ul>
                  {changes.map((change) => (
                    <li key={change}>{change}</li>
                  ))}
                </ul>
              </div>
            ))}
          </div>
        ))}
      </SpaceBetween>
    </Modal>
  );
}

/** The number of digits that Git shows. */
const COMMIT_LENGTH = 10;

/** Reads the changelog's Markdown: a heading per version, below it one per kind of change, and a list. */
const versionsOf = (markdown: string) =>
  markdown
    .split(/^## /m)
    .slice(1)
    .map((release) => {
      const [heading = "", ...kinds] = release.split(/^### /m);
      const { title: version, changes } = sectionOf(heading);
      const sections = [{ title: "", changes }, ...kinds.map(sectionOf)];
      return { version, sections: sections.filter((section) => section.changes.length > 0) };
    });

function sectionOf(markdown: string) {
  const [title = ""] = markdown.split("\n", 1);
  const [, ...changes] = markdown.split(/\n+(?:- |$)/);
  return {
    title: title.trim(),
    changes: changes.filter((change) => change !== "").map((change) => change.replaceAll(/\s+/g, " ").replaceAll(/[`*]/g, "")),
  };
}
