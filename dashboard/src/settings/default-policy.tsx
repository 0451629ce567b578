// The backup policy that new instances get.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import type { Settings } from "../../../shared/api/settings.ts";
import { client } from "../app/client.ts";
import { May } from "../app/may.tsx";
import { text } from "../messages/text.ts";
import { DefaultPolicyForm } from "../policies/form.tsx";
import { Kept } from "../policies/kept.tsx";
import { drillsInWords, keepInWords, scheduleInWords } from "../policies/words.ts";
import { Deletion } from "../resource/dialog/deletion.tsx";
import { Section } from "../resource/page/section.tsx";

interface Props {
  settings: Settings;
  etag: string | undefined;
}

export function DefaultPolicy({ settings, etag }: Props) {
  const policy = settings.default_backup_policy;
  const say = text.settings.defaultPolicy;
  const [dialog, setDialog] = useState<"edit" | "delete">();
  const close = () => setDialog(undefined);
  return (
    <Section
      title={say.title}
      description={say.about}
      actions={
        <May needs={["settings:write"]}>
          <SpaceBetween direction="horizontal" size="xs">
            {policy !== null && <Button onClick={() => setDialog("delete")}>{say.remove}</Button>}
            <Button onClick={() => setDialog("edit")}>{policy === null ? say.set : say.edit}</Button>
          </SpaceBetween>
        </May>
      }
    >
      {policy === null ? <Box color="text-body-secondary">{say.none}</Box> : <Facts policy={policy} />}
      {dialog === "edit" && <DefaultPolicyForm settings={settings} onDismiss={close} />}
      {dialog === "delete" && (
        <Deletion
          of="default"
          title={say.removeTitle}
          confirm={say.remove}
          send={() =>
            client.settings.update({ body: { default_backup_policy: null }, ...(etag !== undefined && { ifMatch: etag }) })
          }
          onDeleted={close}
          onDismiss={close}
        >
          {say.removeAbout}
        </Deletion>
      )}
    </Section>
  );
}

function Facts({ policy }: { policy: NonNullable<Settings["default_backup_policy"]> }) {
  const say = text.settings.defaultPolicy;
  return (
    <KeyValuePairs
      columns={3}
      minColumnWidth={200}
      items={[
        { label: say.schedule, value: policy.enabled ? scheduleInWords(policy) : say.paused(scheduleInWords(policy)) },
        {
          label: say.keeps,
          value: (
            <>
              {keepInWords(policy.keep)}
              <Kept keep={policy.keep} />
            </>
          ),
        },
        { label: say.drills, value: drillsInWords(policy.drill_every_days) },
      ]}
    />
  );
}
