// A passkey in software: what a browser and its authenticator make of WebAuthn's options, right, or wrong in one way.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import type { Assertion, Attestation, CreationOptions, PasskeyOptions } from "../../shared/api/second-factors.ts";
import { apiUrl } from "./cloud.ts";

/** Returns the dashboard's origin on this machine, as its gateway says. */
export const dashboardOrigin = (): string => `http://localhost:${new URL(apiUrl()).port}`;

/** Bits of the authenticator's data: somebody was there, it was the right one, and a new key follows. */
const [PRESENT, VERIFIED, ATTESTED] = [0x01, 0x04, 0x40];

export interface Deviation {
  origin?: string;
  rpId?: string;
  type?: string;
  challenge?: string;
  crossOrigin?: boolean;
  present?: boolean;
  verified?: boolean;
  userHandle?: string;
  /** Changes one bit of the signature. */
  brokenSignature?: boolean;
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
const sha256 = (bytes: Uint8Array | string): Buffer => createHash("sha256").update(bytes).digest();

/** The parts of CBOR that an attestation has. */
const cbor = {
  bytes: (value: Uint8Array): Buffer => Buffer.concat([head(0x40, value.length), value]),
  text: (value: string): Buffer => Buffer.concat([head(0x60, value.length), Buffer.from(value)]),
};
const head = (type: number, length: number): Buffer =>
  length < 24
    ? Buffer.from([type | length])
    : length < 256
      ? Buffer.from([type | 24, length])
      : Buffer.from([type | 25, length >> 8, length & 255]);

export class Authenticator {
  id: Uint8Array = randomBytes(16);
  counter = 0;
  private userHandle = "";
  private readonly key: KeyObject;
  private readonly publicKey: Buffer;

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { x = "", y = "" } = publicKey.export({ format: "jwk" });
    this.key = privateKey;
    const [first, second] = [x, y].map((each) => cbor.bytes(Buffer.from(each, "base64url")));
    // A COSE key: EC2, ES256, P-256, and its two coordinates.
    this.publicKey = Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
      first ?? Buffer.alloc(0),
      Buffer.from([0x22]),
      second ?? Buffer.alloc(0),
    ]);
  }

  create({ challenge, rp, user }: CreationOptions, deviation: Deviation = {}): Attestation {
    this.userHandle = user.id;
    const client = this.clientData({ type: "webauthn.create", challenge, ...deviation });
    const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, this.id.length]), this.id, this.publicKey]);
    const data = this.data(deviation.rpId ?? rp.id, deviation, attested);
    const attestation = Buffer.concat([
      Buffer.from([0xa3]),
      cbor.text("fmt"),
      cbor.text("none"),
      cbor.text("attStmt"),
      Buffer.from([0xa0]),
      cbor.text("authData"),
      cbor.bytes(data),
    ]);
    return {
      id: text(this.id),
      rawId: text(this.id),
      type: "public-key",
      response: { clientDataJSON: text(client), attestationObject: text(attestation), transports: ["internal"] },
      clientExtensionResults: {},
    };
  }

  get({ challenge, rpId }: PasskeyOptions, deviation: Deviation = {}): Assertion {
    this.counter++;
    const client = this.clientData({ type: "webauthn.get", challenge, ...deviation });
    const data = this.data(deviation.rpId ?? rpId, deviation);
    const signature = sign("sha256", Buffer.concat([data, sha256(client)]), this.key);
    if (deviation.brokenSignature === true)
      signature.writeUInt8(signature.readUInt8(signature.length - 1) ^ 1, signature.length - 1);
    return {
      id: text(this.id),
      rawId: text(this.id),
      type: "public-key",
      response: {
        clientDataJSON: text(client),
        authenticatorData: text(data),
        signature: text(signature),
        userHandle: deviation.userHandle ?? this.userHandle,
      },
      clientExtensionResults: {},
    };
  }

  private clientData({ type, challenge, origin = dashboardOrigin(), crossOrigin = false }: Deviation): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin }));
  }

  private data(rpId: string, { present = true, verified = true }: Deviation, attested?: Uint8Array): Buffer {
    const flags = (present ? PRESENT : 0) | (verified ? VERIFIED : 0) | (attested === undefined ? 0 : ATTESTED);
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.counter);
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), counter, attested ?? Buffer.alloc(0)]);
  }
}
