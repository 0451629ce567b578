// Says in a form that it deletes a failed instance first, and what that does.
import Alert from "@cloudscape-design/components/alert";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { Instance } from "../../../shared/api/instances.ts";
import { client } from "../app/client.ts";
import { text } from "../messages/text.ts";
import { Forecast } from "../resource/dialog/forecast.tsx";

export function DeletesFirst({ model: { id, name } }: { model: Pick<Instance, "id" | "name"> }) {
  return (
    <SpaceBetween size="s">
      <Alert type="warning">{text.instances.create.deletesFirst(name)}</Alert>
      <Forecast rehearse={() => client.instances.delete.dryRun({ params: { id } })} of={[id]} returns={false} />
    </SpaceBetween>
  );
}
