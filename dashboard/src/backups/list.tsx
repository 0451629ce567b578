// All backups.
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Backup } from "../../../shared/api/backups.ts";
import type { ListedInstance } from "../../../shared/api/instances.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import { useFollow } from "../app/follow.ts";
import { needsOf, useMay } from "../app/may.tsx";
import { useNarrow } from "../app/narrow.ts";
import { Page } from "../app/page.tsx";
import { instances } from "../app/queries.ts";
import { INSTANCE_NEEDS } from "../allowed/needs.ts";
import { whyNot } from "../allowed/instances.ts";
import { text } from "../messages/text.ts";
import { Action } from "../resource/action.tsx";
import type { Home } from "../allowed/backups.ts";
import { BackupsBulk } from "./bulk.tsx";
import { ShownDetails } from "./shown-details.tsx";
import { BackupsTable } from "./table.tsx";
import { lazily } from "../app/lazily.tsx";

const BackUpAny = lazily(async () => (await import("./back-up.tsx")).BackUpAny, "backupDialogs");

/** More than an account has, unless its operator raised the quotas; then the API decides. */
const ALL = PER_PAGE_MAX;

export default function Backups() {
  const say = text.backups;
  const may = useMay();
  const [choosing, setChoosing] = useState(false);
  const all = useQuery(instances.list({ page: 1, per_page: ALL }));
  const homeOf = ({ instance_id }: Backup): Home => {
    const instance = all.data?.data.find(({ id }) => id === instance_id);
    const deleted = instance === undefined && all.data !== undefined && all.data.meta.total <= ALL;
    return { instance, server: instance?.server ?? undefined, deleted };
  };
  const actions = (
    <SpaceBetween direction="horizontal" size="xs">
      {may(...needsOf("/backups/upload")) && <UploadButton />}
      <Action needs={INSTANCE_NEEDS.backup} variant="primary" disabledReason={whyNotAny(all)} onClick={() => setChoosing(true)}>
        {say.backUpNow}
      </Action>
    </SpaceBetween>
  );
  return (
    <Page title={say.title} headless>
      <BackupsTable bulk={BackupsBulk} homeOf={homeOf} actions={actions} empty={say.none} />
      <ShownDetails />
      {choosing && (
        <BackUpAny
          disabledReasonOf={(instance) => whyNot("backup", instance, instance.server ?? undefined)}
          onDismiss={() => setChoosing(false)}
        />
      )}
    </Page>
  );
}

/** A phone has room for one button beside the heading. */
function UploadButton() {
  const link = { href: "/backups/upload", onFollow: useFollow() };
  const { upload } = text.backups;
  return useNarrow() ? (
    <Button {...link} variant="icon" iconName="upload" ariaLabel={upload} />
  ) : (
    <Button {...link}>{upload}</Button>
  );
}

function whyNotAny({
  data,
  isError,
}: {
  data: { data: readonly ListedInstance[] } | undefined;
  isError: boolean;
}): string | undefined {
  if (isError) return text.backups.notLoaded;
  if (data === undefined) return text.backups.loading;
  return data.data.length === 0 ? text.backups.noInstance : undefined;
}
