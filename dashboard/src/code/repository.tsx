// A repository: what the ERP has of it, what is newer, and the key that reads it.
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { Code } from "../../../shared/api/code.ts";
import { text } from "../messages/text.ts";
import { Copyable } from "../resource/words/copyable.tsx";
import { sentenceOf } from "../resource/words/sentence.ts";
import { Time } from "../resource/words/time.tsx";
import { Wrapped } from "../resource/words/wrapped.tsx";
import { shortCommit } from "./words.ts";

type CodeRepository = Code["repositories"][number];
type Newer = Omit<CodeRepository, "problem"> & Partial<CodeRepository>;

export function Repository({ repository }: { repository: CodeRepository }) {
  const say = text.code.repository;
  const { url, ref, path, commit, checked_at, deploy_key, host_key } = repository;
  return (
    <SpaceBetween size="xs">
      <Header variant="h3">
        <Wrapped>{url}</Wrapped>
      </Header>
      <KeyValuePairs
        columns={3}
        minColumnWidth={180}
        items={[
          { label: say.ref, value: ref },
          { label: say.path, value: path ?? say.wholeRepository },
          { label: say.access, value: accessInWords(repository) },
          {
            label: say.deployed,
            value:
              commit === null ? (
                say.notDeployed
              ) : (
                <Copyable value={commit} display={shortCommit(commit)} valueName={say.copied.deployed} code />
              ),
          },
          { label: say.newest, value: <Newest repository={repository} /> },
          { label: say.checked, value: <Time at={checked_at} exact none={say.unknown} /> },
          ...(deploy_key === null
            ? []
            : [
                {
                  label: say.key,
                  value: (
                    <>
                      <Copyable value={deploy_key.public_key} valueName={say.copiedKey} code />
                      {say.keyAbout}
                    </>
                  ),
                },
                { label: say.fingerprint, value: <Wrapped>{deploy_key.fingerprint}</Wrapped> },
              ]),
          ...(host_key === null
            ? []
            : [
                {
                  label: say.hostKey,
                  value: (
                    <>
                      <Copyable value={host_key} valueName={say.copied.hostKey} code />
                      {say.hostKeyAbout}
                    </>
                  ),
                },
              ]),
        ]}
      />
    </SpaceBetween>
  );
}

/** An older service says nothing of problems. */
function Newest({ repository: { commit, newest_commit: newest, problem } }: { repository: Newer }) {
  const say = text.code.repository;
  if (problem != null) return <StatusIndicator type="error">{sentenceOf(problem.reason, problem.message)}</StatusIndicator>;
  if (newest === null) return say.unknown;
  const copyable = <Copyable value={newest} display={shortCommit(newest)} valueName={say.copied.newest} code />;
  if (newest === commit) return copyable;
  return (
    <>
      {copyable} <StatusIndicator type="info">{say.isNewer}</StatusIndicator>
    </>
  );
}

function accessInWords({ credential }: CodeRepository): string {
  const say = text.code.repository;
  if (credential === null) return say.public;
  return credential === "deploy_key" ? say.withKey : say.withToken(credential.username);
}
