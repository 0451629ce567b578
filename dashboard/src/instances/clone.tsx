// Clones an instance from one of its backups; the instance may be deleted, its backups are enough.
import Alert from "@cloudscape-design/components/alert";
import Button from "@cloudscape-design/components/button";
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { useParams, useSearchParams } from "react-router";
import type { Backup } from "../../../shared/api/backups.ts";
import { RESTORABLE } from "../../../shared/domain/lifecycle.ts";
import { Failure } from "../app/failure.tsx";
import { useFollow } from "../app/follow.ts";
import { Page } from "../app/page.tsx";
import { backups, instances } from "../app/queries.ts";
import { isMissing } from "../app/words.ts";
import { CloneForm } from "./clone-form.tsx";
import { AfterMaking, type Made } from "./after-making.tsx";

/** The newest; an older one is chosen in the list of backups, which leads here with its id. */
const OFFERED = 100;

export default function CloneInstance() {
  const { id = "" } = useParams();
  const [made, setMade] = useState<Made>();
  const [search] = useSearchParams();
  const named = search.get("backup");
  // What was deleted stays so: asking again would take the form away meanwhile.
  const source = useQuery({ ...instances.one(id), enabled: ({ state }) => !isMissing(state.error) });
  const newest = useQuery(backups.list({ instance_id: id, per_page: OFFERED }));
  const chosen = useQuery({ ...backups.one(named ?? ""), enabled: ({ state }) => named !== null && !isMissing(state.error) });

  const deleted = source.data === undefined && isMissing(source.error);
  const known = [...(newest.data?.data ?? []), ...(chosen.data === undefined ? [] : [chosen.data.data])];
  const name = source.data?.data.name ?? known[0]?.instance_name;
  const above = useMemo(
    () => [
      { text: "Instances", href: "/instances" },
      ...(name !== undefined && !deleted ? [{ text: name, href: `/instances/${id}` }] : []),
    ],
    [id, name, deleted],
  );
  const lacking = [newest, ...(deleted ? [] : [source])].filter(({ data }) => data === undefined);
  const failed = lacking.find(({ isError }) => isError);
  return (
    <Page title={name === undefined ? "Clone" : `Clone ${name}`} above={above}>
      {failed !== undefined ? (
        <Failure error={failed.error} retry={() => void Promise.all(lacking.map(({ refetch }) => refetch()))} />
      ) : lacking.length > 0 || (named !== null && chosen.isPending) ? (
        <Spinner size="large" />
      ) : deleted && known.length === 0 ? (
        <Failure error={source.error} />
      ) : (
        <Offer key={id} source={{ id, instance: source.data?.data }} known={known} named={named} onMade={setMade} />
      )}
      {made !== undefined && <AfterMaking made={made} />}
    </Page>
  );
}

interface OfferProps {
  source: Parameters<typeof CloneForm>[0]["source"];
  known: readonly Backup[];
  named: string | null;
  onMade: (made: Made) => void;
}

function Offer({ source, known, named, onMade }: OfferProps) {
  const usable = known.filter(
    (backup, index) =>
      backup.instance_id === source.id &&
      RESTORABLE.includes(backup.status) &&
      known.findIndex((each) => each.id === backup.id) === index,
  );
  const [newest] = usable;
  if (newest === undefined) return <NoBackup id={source.id} />;
  // Where the one that was asked for cannot be used, no other is taken for it.
  const chosen = named === null ? newest : usable.find((backup) => backup.id === named);
  return <CloneForm source={source} usable={usable} chosen={chosen?.id ?? ""} onMade={onMade} />;
}

function NoBackup({ id }: { id: string }) {
  return (
    <Alert
      type="info"
      header="There is no completed backup"
      action={
        <Button href={`/instances/${id}`} onFollow={useFollow()}>
          Go to the instance
        </Button>
      }
    >
      A clone is made from a backup: back the instance up first.
    </Alert>
  );
}
