// All backups.
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Backup } from "../../../shared/api/backups.ts";
import { useFollow } from "../app/follow.ts";
import { needsOf, useMay } from "../app/may.tsx";
import { useNarrow } from "../app/narrow.ts";
import { Page } from "../app/page.tsx";
import { instances, overview } from "../app/queries.ts";
import { INSTANCE_NEEDS } from "../allowed/needs.ts";
import { whyNot } from "../allowed/instances.ts";
import { text } from "../messages/text.ts";
import { Action } from "../resource/page/action.tsx";
import type { Home } from "../allowed/backups.ts";
import { BackupsBulk } from "./bulk.tsx";
import { ShownDetails } from "./shown-details.tsx";
import { BackupsTable } from "./table.tsx";
import { lazily } from "../app/lazily.tsx";

const BackUpAny = lazily(async () => (await import("./back-up.tsx")).BackUpAny, "backupDialogs");

/** The instances that the rows of a page name are one request. */
function useHome({ instance_id }: Backup): Home {
  const { data } = useQuery({ ...instances.named(instance_id ?? ""), enabled: instance_id !== null });
  return { instance: data ?? undefined, server: data?.server ?? undefined, deleted: data === null };
}

export default function Backups() {
  const say = text.backups;
  const may = useMay();
  const [choosing, setChoosing] = useState(false);
  const counted = useQuery({ ...overview(), enabled: false }).data?.data.instances;
  const whyNotAny = counted?.total === 0 ? say.noInstance : undefined;
  const actions = (
    <SpaceBetween direction="horizontal" size="xs">
      {may(...needsOf("/backups/upload")) && <UploadButton />}
      <Action needs={INSTANCE_NEEDS.backup} variant="primary" disabledReason={whyNotAny} onClick={() => setChoosing(true)}>
        {say.backUpNow}
      </Action>
    </SpaceBetween>
  );
  return (
    <Page title={say.title} headless>
      <BackupsTable bulk={BackupsBulk} useHome={useHome} actions={actions} empty={say.none} />
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
