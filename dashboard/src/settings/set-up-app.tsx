// The dialog that sets up an authenticator app: its key as a QR code and as text, and the first code.
import Spinner from "@cloudscape-design/components/spinner";
import { useQuery } from "@tanstack/react-query";
import { encode } from "uqr";
import { confirmTotp } from "../../../shared/api/second-factors.ts";
import { client } from "../app/client.ts";
import { Failure } from "../app/failure.tsx";
import { notify } from "../app/notifications.ts";
import { text } from "../messages/text.ts";
import { Copyable } from "../resource/words/copyable.tsx";
import { FormDialog } from "../resource/form/form-dialog.tsx";
import { TextField } from "../resource/form/form.tsx";
import { useForm } from "../resource/form/use-form.ts";

const { body } = confirmTotp();

export function SetUpApp({ onAdded, onDismiss }: { onAdded: () => void; onDismiss: () => void }) {
  const say = text.settings.factors.app;
  // Begun once, when the dialog opens: another key would replace the one that the user has just scanned.
  const setUp = useQuery({
    queryKey: ["totp-set-up"],
    queryFn: () => client.secondFactors.beginTotp({ body: {} }),
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });
  const form = useForm({
    initial: { code: "" },
    schema: body,
    body: ({ code }) => ({ code: code.replaceAll(/\s/g, "") }),
    send: (filled) => client.secondFactors.confirmTotp({ body: filled }),
    done: ({ data: { id } }) => {
      notify({ id, type: "success", header: say.added });
      onAdded();
    },
  });
  const key = setUp.data?.data;
  return (
    <FormDialog title={say.title} form={form} submit={say.submit} onDismiss={onDismiss}>
      {say.about}
      {key !== undefined ? (
        <>
          <QrCode of={key.otpauth_url} />
          <Copyable value={key.secret} valueName={say.key} code />
        </>
      ) : setUp.error === null ? (
        <Spinner />
      ) : (
        <Failure error={setUp.error} retry={() => void setUp.refetch()} />
      )}
      <TextField label={say.code} inputMode="numeric" autoComplete="one-time-code" autoFocus {...form.text("code")} />
    </FormDialog>
  );
}

/** Black on white in both modes, because apps expect it so. */
function QrCode({ of }: { of: string }) {
  const { data, size } = encode(of, { border: 4 });
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join("");
  return (
    <svg
      className="qr-code"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={text.settings.factors.app.picture}
      shapeRendering="crispEdges"
    >
      <path d={`M0 0h${size}v${size}h-${size}z`} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
