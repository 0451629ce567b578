// Clones an instance from one of its backups; if the instance was deleted, its backups are enough.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { useParams, useSearchParams } from "react-router";
import type { Backup } from "../../../shared/api/backups.ts";
import { isSafetyBackup } from "../../../shared/domain/backup-kinds.ts";
import { RESTORABLE, type BackupStatus } from "../../../shared/domain/lifecycle.ts";
import { canCreateAgain } from "../allowed/instances.ts";
import { Failure } from "../app/failure.tsx";
import { useFollow } from "../app/follow.ts";
import { Page } from "../app/page.tsx";
import { backups, instances } from "../app/queries.ts";
import { isMissing } from "../app/words.ts";
import { text } from "../messages/text.ts";
import { type Pages, usePages } from "../resource/page/use-pages.ts";
import { CloneForm } from "./clone-form.tsx";
import { AfterCreation, type CreatedInstance } from "./after-creation.tsx";

const COMPLETED = { status: "completed" satisfies BackupStatus };

export default function CloneInstance() {
  const { id = "" } = useParams();
  const [created, setCreated] = useState<CreatedInstance>();
  const [search] = useSearchParams();
  const backupId = search.get("backup");
  // The instance is fetched once: the form needs no more of it, and fetching it again would remove the form if it was deleted
  // meanwhile.
  const source = useQuery({ ...instances.one(id), enabled: ({ state }) => state.data === undefined && !isMissing(state.error) });
  const model = useModel(search.get("like"));
  const completed = usePages(backups.listOf(id), COMPLETED);
  // What the user searches leaves the form as it is.
  const offered = usePages(backups.listOf(id), COMPLETED);
  const chosen = useLinkedBackup(backupId);

  const deleted = source.data === undefined && isMissing(source.error);
  const usable = usableOf(id, chosen.data === undefined ? completed.items : [...completed.items, chosen.data.data]);
  const preselected = preselectedOf(usable, backupId);
  const searching = useSearch(completed, backupId === null && preselected === undefined);
  const isOfBackup = backupId !== null || deleted;
  const name = source.data?.data.name ?? usable[0]?.instance_name ?? undefined;
  const above = useMemo(
    () => [
      { text: text.instances.title, href: "/instances" },
      ...(name !== undefined && !deleted ? [{ text: name, href: `/instances/${id}` }] : []),
    ],
    [id, name, deleted],
  );
  const failure =
    source.data === undefined && !deleted && source.isError
      ? { error: source.error, retry: () => void source.refetch() }
      : completed.total === undefined && completed.error !== null
        ? { error: completed.error, retry: completed.retry }
        : undefined;
  return (
    <Page title={titleOf(name, isOfBackup)} above={above}>
      {failure !== undefined ? (
        <Failure {...failure} />
      ) : searching ||
        completed.total === undefined ||
        source.isPending ||
        model.isLoading ||
        (backupId !== null && chosen.isPending) ? (
        <Spinner size="large" />
      ) : usable.length === 0 ? (
        <NoBackup id={id} />
      ) : (
        <CloneForm
          key={id}
          source={{ id, instance: source.data?.data }}
          offered={{ ...offered, items: usableOf(id, offered.items) }}
          preselected={preselected}
          isOfBackup={isOfBackup}
          model={model.failed}
          onCreated={setCreated}
        />
      )}
      {created !== undefined && <AfterCreation created={created} />}
    </Page>
  );
}

/** A clone that failed, to try again. Once, too: the form deletes it. */
function useModel(like: string | null) {
  const { data, isLoading } = useQuery({
    ...instances.one(like ?? ""),
    enabled: ({ state }) => like !== null && state.data === undefined && !isMissing(state.error),
  });
  return { isLoading, failed: data !== undefined && canCreateAgain(data.data) ? data.data : undefined };
}

/** Whoever comes from a backup restores it to a new instance; whoever comes from an instance clones that. */
function titleOf(name: string | undefined, isOfBackup: boolean): string {
  const { title, titleOf: clone, restoreTitle, restoreTitleOf: restore } = text.instances.clone;
  if (name === undefined) return isOfBackup ? restoreTitle : title;
  return isOfBackup ? restore(name) : clone(name);
}

const usableOf = (instanceId: string, candidates: readonly Backup[]): Backup[] =>
  candidates.filter(
    (backup, index) =>
      backup.instance_id === instanceId &&
      RESTORABLE.includes(backup.status) &&
      candidates.findIndex((each) => each.id === backup.id) === index,
  );

/** The backup that a link names. */
const useLinkedBackup = (backupId: string | null) =>
  useQuery({ ...backups.one(backupId ?? ""), enabled: ({ state }) => backupId !== null && !isMissing(state.error) });

/** If the requested backup cannot be used, the form selects no other one. */
function preselectedOf(usable: readonly Backup[], backupId: string | null): Backup | undefined {
  if (backupId !== null) return usable.find(({ id }) => id === backupId);
  // A safety backup holds what a restore has just replaced: the user can choose it, but the form never preselects it.
  return usable.find((backup) => !isSafetyBackup(backup));
}

/** Loads page after page until the requested record is among them; returns whether loading continues. */
function useSearch({ total, complete, pending, error, more }: Pages<Backup>, isNeeded: boolean): boolean {
  const searching = isNeeded && total !== undefined && !complete && error === null;
  useEffect(() => {
    if (searching && !pending) more();
  }, [searching, pending, more]);
  return searching;
}

function NoBackup({ id }: { id: string }) {
  return (
    <Alert
      type="info"
      header={text.instances.clone.noBackups}
      action={
        <Button href={`/instances/${id}`} onFollow={useFollow()}>
          {text.instances.clone.viewInstance}
        </Button>
      }
    >
      {text.instances.clone.noBackupsAbout}
    </Alert>
  );
}
