// Mail by a real SMTP server: encrypted, and without hanging on one that is silent, refuses or breaks off.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setDefaultCACertificates, getCACertificates } from "node:tls";
import { simpleParser } from "mailparser";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MailboxRefused, sendBySmtp } from "../../shared/mail/senders.ts";

const folder = mkdtempSync(join(tmpdir(), "smtp-"));
const closes: (() => void)[] = [];
beforeAll(() => {
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1,DNS:relay.test"];
  execFileSync(
    "openssl",
    [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-days",
      "2",
      "-keyout",
      "key.pem",
      "-out",
      "cert.pem",
      ...names,
    ],
    { cwd: folder, stdio: "ignore" },
  );
});
afterAll(() => {
  for (const close of closes) close();
  rmSync(folder, { recursive: true });
});

const pem = (name: string): string => readFileSync(join(folder, name), "utf8");
const MAIL = {
  id: "mail_01kag8w1s2e7tv8q4m5n6p7r8s",
  to: "ann@example.com",
  subject: "Prüfung: Passwort",
  text: "Hallo Ann,\n\n.ein Punkt am Anfang\nhttps://erp.example.com/x#token=abc\n",
  html: "<p>Hallo Ann</p>",
  created_at: "2026-11-26T10:00:00.000Z",
};
const FROM = { name: "Acme Cloud", address: "noreply@example.com" };

async function relay(options: SMTPServerOptions = {}) {
  const received: { raw: Buffer; secure: boolean; user: unknown; to: string[] }[] = [];
  const server = new SMTPServer({
    key: pem("key.pem"),
    cert: pem("cert.pem"),
    onAuth: ({ username, password }, _, callback) =>
      password === "s3cret" ? callback(null, { user: username }) : callback(new Error("Wrong password")),
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const { secure, user, envelope } = session;
        received.push({ raw: Buffer.concat(chunks), secure, user, to: envelope.rcptTo.map(({ address }) => address) });
        callback();
      });
    },
    ...options,
  });
  server.on("error", () => undefined); // a client that breaks off
  server.listen(0, "0.0.0.0");
  await once(server.server, "listening");
  closes.push(() => server.close(() => undefined));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has a port
  return { port: (server.server.address() as AddressInfo).port, received };
}

const trusting = async (work: () => Promise<void>): Promise<void> => {
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, pem("cert.pem")]);
  try {
    await work();
  } finally {
    setDefaultCACertificates(before);
  }
};

describe("a relay", () => {
  test.each([
    ["STARTTLS", "smtp", {}],
    ["TLS from the beginning", "smtps", { secure: true }],
  ] as const)("gets the mail with %s, after the password", async (_, protocol, options) => {
    const { port, received } = await relay(options);
    await trusting(() => sendBySmtp(`${protocol}://mailer:s3cret@localhost:${port}`, MAIL, FROM));
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({ secure: true, user: "mailer", to: [MAIL.to] });
    const parsed = await simpleParser(received[0]?.raw ?? "");
    expect(parsed).toMatchObject({
      subject: MAIL.subject,
      text: MAIL.text,
      html: MAIL.html,
      messageId: `<${MAIL.id}@example.com>`,
    });
    expect(parsed.from?.text).toBe('"Acme Cloud" <noreply@example.com>');
  });

  test("whose certificate is not to be trusted gets neither password nor mail", async () => {
    let authentications = 0;
    const { port, received } = await relay({
      onAuth: (_auth, _session, callback) => {
        authentications++;
        callback(null, { user: "x" });
      },
    });
    await expect(sendBySmtp(`smtp://mailer:s3cret@localhost:${port}`, MAIL, FROM)).rejects.toThrow(/certificate/i);
    expect([authentications, received.length]).toEqual([0, 0]);
  });

  test("that offers no TLS gets nothing, unless it is on this machine", async () => {
    const { port, received } = await relay({ hideSTARTTLS: true, disabledCommands: ["STARTTLS"], authOptional: true });
    await expect(sendBySmtp(`smtp://127.0.0.2:${port}`, MAIL, FROM)).rejects.toThrow(/TLS/);
    expect(received).toEqual([]);
    await sendBySmtp(`smtp://127.0.0.1:${port}`, MAIL, FROM);
    expect(received).toHaveLength(1);
  });

  test("that rejects the password is an error, which does not tell it", async () => {
    const { port } = await relay();
    const sending = trusting(() => sendBySmtp(`smtp://mailer:wr0ng@localhost:${port}`, MAIL, FROM));
    await expect(sending).rejects.toThrow(/Invalid login|Wrong password/);
    await sending.catch((error: unknown) =>
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("wr0ng"),
    );
  });

  test.each([
    ["550 5.1.1 no such user", true],
    ["550 5.7.1 relaying denied", false],
    ["451 4.3.0 try again later", false],
    ["552 5.2.2 mailbox full", false],
  ])("that responds %s: the mailbox does not exist: %s", async (response, isGone) => {
    const { port } = await relay({
      authOptional: true,
      onRcptTo: (_address, _session, callback) =>
        callback(Object.assign(new Error(response.slice(4)), { responseCode: Number(response.slice(0, 3)) })),
    });
    const error: unknown = await trusting(() => sendBySmtp(`smtp://localhost:${port}`, MAIL, FROM)).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(Error);
    expect(error instanceof MailboxRefused).toBe(isGone);
  });
});

/** A server that speaks as much SMTP as it wants. */
async function raw(greeting: string, respond: (line: string) => string | undefined): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    closes.push(() => socket.destroy());
    if (greeting !== "") socket.write(`${greeting}\r\n`);
    socket.on("data", (data) => {
      for (const line of data.toString().split("\r\n").filter(Boolean)) {
        const response = respond(line);
        if (response === undefined) socket.destroy();
        else if (response !== "") socket.write(`${response}\r\n`);
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closes.push(() => server.close());
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server has a port
  return (server.address() as AddressInfo).port;
}

describe("a server that is broken", () => {
  test("and says nothing ends the try in time", async () => {
    const port = await raw("", () => "");
    const began = Date.now();
    await expect(sendBySmtp(`smtp://127.0.0.1:${port}`, MAIL, FROM)).rejects.toThrow(/greeting/i);
    expect(Date.now() - began).toBeLessThan(40_000);
  });

  test("and breaks off in the middle of the mail is an error that is tried again", async () => {
    let inData = false;
    const port = await raw("220 relay", (line) => {
      if (inData) return undefined;
      inData = line === "DATA";
      return inData ? "354 go on" : "250 ok";
    });
    const error: unknown = await sendBySmtp(`smtp://127.0.0.1:${port}`, MAIL, FROM).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(MailboxRefused);
  });

  test("and not there is an error", async () => {
    const port = await raw("220 relay", () => "250 ok");
    closes.pop()?.();
    await expect(sendBySmtp(`smtp://127.0.0.1:${port}`, MAIL, FROM)).rejects.toThrow(/ECONNREFUSED/);
  });
});
