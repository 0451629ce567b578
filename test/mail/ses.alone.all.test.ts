// Mail by SES: one recipient, the same bytes as by SMTP, with the configuration set by which bounces are reported.
import { once } from "node:events";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { simpleParser } from "mailparser";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as z from "zod";
import { chooseSender } from "../../shared/mail/senders.ts";

const Sent = z.object({
  FromEmailAddress: z.string(),
  Destination: z.object({ ToAddresses: z.array(z.string()) }),
  Content: z.object({ Raw: z.object({ Data: z.string() }) }),
  ConfigurationSetName: z.string(),
});
const received: { path: string | undefined; body: unknown }[] = [];
const server = createServer((request, response) => {
  const record = async (): Promise<void> => {
    received.push({ path: request.url, body: await json(request) });
    response.writeHead(200, { "content-type": "application/json" }).end('{"MessageId":"0107"}');
  };
  void record();
});
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = z.object({ port: z.number() }).parse(server.address());
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SESV2: `http://127.0.0.1:${port}`,
    AWS_REGION: "eu-central-1",
    AWS_ACCESS_KEY_ID: "AKIA",
    AWS_SECRET_ACCESS_KEY: "secret",
  });
});
afterAll(() => server.close());

const VARIABLES = {
  MAIL_SENDER: "noreply@example.com",
  MAIL_CONFIGURATION_SET: "ErpControlPlane-test",
  MAIL_BRAND: '{"name":"Acme"}',
};
const MAIL = {
  id: "mail_01kag8w1s2e7tv8q4m5n6p7r8s",
  to: "ann@example.com",
  subject: "Prüfung",
  text: "Hallo\n",
  html: "<p>Hallo</p>",
  created_at: "2026-11-26T10:00:00.000Z",
};

test("a mail is sent from the operator's address, under the brand's name", async () => {
  await chooseSender(VARIABLES)?.(MAIL);
  expect(received).toHaveLength(1);
  expect(received[0]?.path).toBe("/v2/email/outbound-emails");
  const sent = Sent.parse(received[0]?.body);
  expect(sent).toMatchObject({
    FromEmailAddress: "noreply@example.com",
    Destination: { ToAddresses: ["ann@example.com"] },
    ConfigurationSetName: "ErpControlPlane-test",
  });
  const parsed = await simpleParser(Buffer.from(sent.Content.Raw.Data, "base64"));
  expect(parsed).toMatchObject({ subject: "Prüfung", text: "Hallo\n", html: "<p>Hallo</p>" });
  expect(parsed.from?.text).toBe('"Acme" <noreply@example.com>');
});

test("without a sender's address nothing is sent", () => {
  expect(chooseSender({ MAIL_BRAND: "{}" })).toBeUndefined();
});
