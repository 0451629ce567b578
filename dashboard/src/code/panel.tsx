// The code of an instance: what is set, whether there are newer commits, how a push deploys, and the deploys.
import Box from "@cloudscape-design/components/box";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { Code } from "../../../shared/api/code.ts";
import type { ShownInstance } from "../../../shared/api/instances.ts";
import { type ServerOf, whyNot, whyNotEdit } from "../allowed/instances.ts";
import { INSTANCE_NEEDS } from "../allowed/needs.ts";
import { Failure } from "../app/failure.tsx";
import { lazily } from "../app/lazily.tsx";
import { code as codes } from "../app/queries.ts";
import { text } from "../messages/text.ts";
import { Action } from "../resource/page/action.tsx";
import { Section } from "../resource/page/section.tsx";
import { Time } from "../resource/words/time.tsx";
import { Wrapped } from "../resource/words/wrapped.tsx";
import { Check } from "./check.tsx";
import { DeploysTable } from "./deploys.tsx";
import { followsNewest } from "./values.ts";
import { Hook } from "./hook.tsx";
import { Repository } from "./repository.tsx";

const EditCode = lazily(async () => (await import("./edit.tsx")).EditCode);
const StartDeploy = lazily(async () => (await import("./start-deploy.tsx")).StartDeploy);

interface Props {
  instance: ShownInstance;
  server: ServerOf | undefined;
}

export function InstanceCode({ instance, server }: Props) {
  const { data, error, refetch } = useQuery(codes.of(instance.id));
  return (
    <SpaceBetween size="l">
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {data === undefined ? (
        error === null && <Spinner size="large" />
      ) : (
        <CodePanelContent {...{ instance, server }} code={data.data} />
      )}
      <DeploysTable instance={instance} server={server} />
    </SpaceBetween>
  );
}

function CodePanelContent({ instance, server, code }: Props & { code: Code }) {
  const say = text.code;
  const [dialog, setDialog] = useState<"edit" | "deploy" | "image">();
  const close = () => setDialog(undefined);
  return (
    <>
      <SpaceBetween size="l">
        <Section
          title={say.title}
          description={say.about}
          actions={
            <SpaceBetween direction="horizontal" size="xs">
              <Action needs={INSTANCE_NEEDS.code} disabledReason={whyNotEdit(instance)} onClick={() => setDialog("edit")}>
                {say.actions.edit}
              </Action>
              <Action
                needs={INSTANCE_NEEDS.deploy}
                variant="primary"
                disabledReason={whyNot("deploy", instance, server)}
                onClick={() => setDialog("deploy")}
              >
                {say.actions.deploy}
              </Action>
            </SpaceBetween>
          }
        >
          <SpaceBetween size="l">
            {code.repositories.length === 0 ? (
              <Box color="text-status-inactive">{say.none}</Box>
            ) : (
              <>
                {code.repositories.map((repository, index) => (
                  <Repository key={index} repository={repository} />
                ))}
                <Check instance={instance} />
              </>
            )}
            <Settings {...{ instance, server, code }} onUpdate={() => setDialog("image")} />
          </SpaceBetween>
        </Section>
        <Hook instance={instance} code={code} />
      </SpaceBetween>
      {dialog === "edit" && <EditCode instance={instance} code={code} onDismiss={close} />}
      {(dialog === "deploy" || dialog === "image") && (
        <StartDeploy instance={instance} begin={{ update_image: dialog === "image" }} onDismiss={close} />
      )}
    </>
  );
}

interface SettingsProps extends Props {
  code: Code;
  /** Brings the newest image. */
  onUpdate: () => void;
}

function Settings({ instance, server, code, onUpdate }: SettingsProps) {
  const say = text.code.set;
  const { python_packages: packages, install_modules: modules, environment, auto_deploy } = code;
  const update = (
    <Action
      needs={INSTANCE_NEEDS.deploy}
      variant="inline-link"
      disabledReason={whyNot("deploy", instance, server)}
      onClick={onUpdate}
    >
      {say.updateImage}
    </Action>
  );
  const variables = environment.map(({ name, value }) => (value === undefined ? say.hidden(name) : `${name}=${value}`));
  return (
    <KeyValuePairs
      columns={2}
      minColumnWidth={250}
      items={[
        { label: say.image, value: <Image of={code} update={update} /> },
        { label: say.packages, value: <Lines lines={packages} /> },
        { label: say.modules, value: <Lines lines={modules} /> },
        { label: say.variables, value: <Lines lines={variables} /> },
        { label: say.autoDeploy, value: auto_deploy === "push" ? say.deploys : say.nothing },
        { label: say.newImages, value: followsNewest(code) ? say.everyDeploy : say.onRequest },
      ]}
    />
  );
}

/** An older service says nothing of images. */
function Image({ of: { image }, update }: { of: Partial<Code>; update: ReactNode }) {
  const say = text.code.set;
  if (image == null || image.id === null) return say.unknownImage;
  const created = <Time at={image.created_at} none={text.reports.none} />;
  if (image.update_available === false) return say.newestImage(created);
  if (image.update_available !== true) return say.imageOf(created); // the registry was not asked yet
  return (
    <>
      <StatusIndicator type="info">
        {say.newerImage(created, <Time at={image.newest_created_at} none={text.reports.none} />)}
      </StatusIndicator>{" "}
      {update}
    </>
  );
}

const Lines = ({ lines }: { lines: readonly string[] }) =>
  lines.length === 0 ? (
    text.code.set.nothingSet
  ) : (
    <Wrapped>
      {lines.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </Wrapped>
  );
