// Domains that no instance of the live environment can have.
import { expect, test } from "vitest";
import { isInternalName } from "../shared/domain/internal-names.ts";

test.each([
  "metadata.google.internal",
  "shop.local",
  "shop.corp.internal",
  "shop.invalid",
  "shop.localhost",
  "shop.example",
  "metadata.tencentyun.com",
  "metadata.goog",
  "a.metadata.packet.net",
  "169.254.169.254.nip.io",
  "shop-169-254-169-254.sslip.io",
  "168.63.129.16.nip.io",
  "100-100-100-200.example.com",
])("%s is internal", (domain) => expect(isInternalName(domain)).toBe(true));

test.each([
  "shop.example.com",
  "local.example.com",
  "internal.shop.de",
  "mylocal.io",
  "metadata.shop.com",
  "example.org",
  "localhost.run",
])("%s is not", (domain) => expect(isInternalName(domain)).toBe(false));
