// The user's second factors: what there is, and setting up more.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { Factor } from "../../../shared/api/second-factors.ts";
import { PER_PAGE_MAX } from "../../../shared/domain/limits.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { notify } from "../app/notifications.ts";
import { me, secondFactors } from "../app/queries.ts";
import { queryClient } from "../app/query-client.ts";
import { text } from "../messages/text.ts";
import { Deletion } from "../resource/dialog/deletion.tsx";
import { Section } from "../resource/page/section.tsx";
import { Time } from "../resource/words/time.tsx";
import { Wrapped } from "../resource/words/wrapped.tsx";
import { offersPasskeys, whyNoPasskeys } from "../session/passkeys-offered.ts";
import { endSetUp } from "../session/set-up.ts";
import { AddPasskey } from "./add-passkey.tsx";
import { NewCodes } from "./new-codes.tsx";
import { SetUpApp } from "./set-up-app.tsx";

type Act = "passkey" | "app" | "codes" | Factor;

/** The changes are the user's own, and no other page shows them. */
async function changed(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ["second-factors"] });
  await queryClient.invalidateQueries({ queryKey: ["me"] });
}

export function SecondFactors() {
  const say = text.settings.factors;
  const all = useQuery(secondFactors.list({ per_page: PER_PAGE_MAX }));
  const identity = useQuery(me());
  const [act, setAct] = useState<Act>();
  const close = (): void => {
    setAct(undefined);
    void changed();
  };
  const added = (): void => {
    close();
    endSetUp();
  };
  const failed = all.error ?? identity.error;
  const factors = all.data?.data;
  const codesLeft = identity.data?.data.user?.second_factors?.recovery_codes_left;
  return (
    <Section title={say.title} description={say.about} actions={<Acts factors={factors ?? []} onAct={setAct} />}>
      {factors !== undefined && codesLeft !== undefined ? (
        <SpaceBetween size="m">
          <NoPasskeysHere />
          <Factors factors={factors} onRemove={setAct} />
          {factors.length > 0 && <CodesLeft count={codesLeft} />}
        </SpaceBetween>
      ) : failed === null ? (
        <Spinner />
      ) : (
        <Failure error={failed} retry={() => void changed()} />
      )}
      {act === "passkey" && <AddPasskey onAdded={added} onDismiss={close} />}
      {act === "app" && <SetUpApp onAdded={added} onDismiss={close} />}
      {act === "codes" && <NewCodes onDismiss={close} />}
      {typeof act === "object" && <Remove factor={act} isLast={factors?.length === 1} onDone={close} />}
    </Section>
  );
}

function Acts({ factors, onAct }: { factors: readonly Factor[]; onAct: (act: Act) => void }) {
  const say = text.settings.factors;
  return (
    <SpaceBetween direction="horizontal" size="xs">
      {offersPasskeys() && <Button onClick={() => onAct("passkey")}>{say.addPasskey.title}</Button>}
      {!factors.some(({ type }) => type === "totp") && <Button onClick={() => onAct("app")}>{say.app.title}</Button>}
      {factors.length > 0 && <Button onClick={() => onAct("codes")}>{say.codes.make}</Button>}
    </SpaceBetween>
  );
}

/** Why no passkey can be added here. */
function NoPasskeysHere(): ReactNode {
  const reason = whyNoPasskeys();
  return reason !== undefined && <Alert type="info">{reason}</Alert>;
}

function Factors({ factors, onRemove }: { factors: readonly Factor[]; onRemove: (factor: Factor) => void }) {
  const say = text.settings.factors;
  if (factors.length === 0) return <Box color="text-body-secondary">{say.none}</Box>;
  return (
    <ul className="sessions" aria-label={say.title}>
      {factors.map((factor) => (
        <li key={factor.id}>
          <div>
            <Wrapped>{nameOf(factor)}</Wrapped>
            <Box variant="small" display="block">
              {factor.type === "passkey" && <>{say.types.passkey} · </>}
              {say.added} <Time at={factor.created_at} /> ·{" "}
              {factor.last_used_at === null ? (
                say.unused
              ) : (
                <>
                  {say.used} <Time at={factor.last_used_at} />
                </>
              )}
            </Box>
          </div>
          <Button
            variant="inline-link"
            wrapText={false}
            ariaLabel={text.resource.list.act(say.remove, nameOf(factor))}
            onClick={() => onRemove(factor)}
          >
            {say.remove}
          </Button>
        </li>
      ))}
    </ul>
  );
}

/** There is one app, and nobody names it. */
const nameOf = ({ type, name }: Factor): string => (type === "totp" ? text.settings.factors.types.totp : name);

function CodesLeft({ count }: { count: number }) {
  const say = text.settings.factors.codes;
  return count === 0 ? <Alert type="warning">{say.none}</Alert> : <Box>{say.left(count)}</Box>;
}

function Remove({ factor, isLast, onDone }: { factor: Factor; isLast: boolean; onDone: () => void }) {
  const say = text.settings.factors;
  const { id } = factor;
  return (
    <Deletion
      of={id}
      title={say.removeTitle(nameOf(factor))}
      confirm={say.remove}
      send={() => client.secondFactors.delete({ params: { id } })}
      onDeleted={() => {
        notify({ id, type: "success", header: say.removed(nameOf(factor)) });
        onDone();
      }}
      onDismiss={onDone}
    >
      {say.removeAbout(nameOf(factor))} {isLast && say.removeLast}
    </Deletion>
  );
}
