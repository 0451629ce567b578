// The form that begins an upload, or continues one: its file is chosen again.
import Box from "@cloudscape-design/components/box";
import FileInput from "@cloudscape-design/components/file-input";
import FormField from "@cloudscape-design/components/form-field";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import { useNavigate } from "react-router";
import { id } from "../../../shared/api/fields.ts";
import { create } from "../../../shared/api/uploads.ts";
import type { ListedServer } from "../../../shared/api/servers.ts";
import { client } from "../app/client.ts";
import { isMissing } from "../app/words.ts";
import { text } from "../messages/text.ts";
import { Form, TextField } from "../resource/form/form.tsx";
import { sizeInWords } from "../resource/words/size.ts";
import { textOrUndefined, useForm } from "../resource/form/use-form.ts";
import type { Pages } from "../resource/page/use-pages.ts";
import { ServerField } from "../servers/server-field.tsx";
import { removeUnfinished, storeUnfinished, unfinished, unfinishedOf } from "./unfinished.ts";
import { UnfinishedUploads } from "./unfinished-uploads.tsx";
import type { Begun } from "./transfer.ts";

const { body: uploadBody } = create();

interface Props {
  active: Pages<ListedServer>;
  onBegun: (begun: Begun) => void;
}

function useUploadForm(file: File | undefined, onBegun: Props["onBegun"]) {
  return useForm({
    initial: { size_bytes: 0, note: "", server_id: "" },
    schema: uploadBody.extend({ server_id: id("server") }),
    body: ({ size_bytes, note, server_id }) => ({
      size_bytes: file === undefined ? "" : size_bytes,
      note: textOrUndefined(note),
      server_id,
    }),
    send: async ({ note, server_id }, idempotencyKey) => {
      // The name is only for people: one that the API would not take is left out.
      const file_name = uploadBody.shape.file_name.safeParse(file?.name).data;
      const body = { size_bytes: file?.size ?? 0, note, file_name };
      const create = () => client.uploads.create({ body, idempotencyKey });
      const unfinishedUpload = file && unfinishedOf(file);
      const { data } = await (
        unfinishedUpload === undefined ? create() : client.uploads.get({ params: { id: unfinishedUpload.id } })
      ).catch((error: unknown) => {
        if (unfinishedUpload === undefined || !isMissing(error)) throw error;
        removeUnfinished(unfinishedUpload.id); // somebody has aborted or completed it
        return create();
      });
      return { upload: data, serverId: server_id };
    },
    done: (result) => {
      if (file === undefined) return;
      storeUnfinished(file, result.upload);
      onBegun({ file, ...result });
    },
  });
}

export function UploadForm({ active, onBegun }: Props) {
  const say = text.uploads;
  const navigate = useNavigate();
  const [file, setFile] = useState<File>();
  const [unfinishedUploads, setUnfinishedUploads] = useState(unfinished);
  const form = useUploadForm(file, onBegun);
  const wrong = form.error("size_bytes");
  const continues = file !== undefined && unfinishedOf(file) !== undefined;
  return (
    <>
      <UnfinishedUploads
        ownUploads={unfinishedUploads}
        failure={form.failure}
        onAborted={() => setUnfinishedUploads(unfinished())}
      />
      <Form form={form} submit={continues ? say.continue : say.upload} onCancel={() => void navigate("/backups")}>
        <FormField
          label={say.file.label}
          description={say.file.about}
          errorText={wrong && file?.size === 0 ? say.file.empty : wrong}
        >
          <SpaceBetween direction="horizontal" size="s" alignItems="center">
            <FileInput
              accept=".zip,application/zip"
              value={file === undefined ? [] : [file]}
              onChange={({ detail }) => {
                const [chosen] = detail.value;
                setFile(chosen);
                form.set({ size_bytes: chosen?.size ?? 0 });
              }}
            >
              {say.file.choose}
            </FileInput>
            {file !== undefined && (
              <Box>
                {file.name}, {sizeInWords(file.size)}
              </Box>
            )}
          </SpaceBetween>
        </FormField>
        <ServerField
          only
          label={say.server.label}
          description={say.server.about}
          placeholder={say.server.placeholder}
          pages={active}
          chosen={form.values.server_id}
          error={form.error("server_id")}
          onChange={(server_id) => form.set({ server_id })}
        />
        {!continues && <TextField label={say.note} optional placeholder={say.notePlaceholder} {...form.text("note")} />}
      </Form>
    </>
  );
}
