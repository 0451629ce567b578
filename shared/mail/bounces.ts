// What SES reports of mails that were not taken, or were reported as spam.
import * as z from "zod";

const Recipient = z.object({ emailAddress: z.string() });
const Report = z.object({
  detail: z.discriminatedUnion("eventType", [
    z.object({
      eventType: z.literal("Bounce"),
      bounce: z.object({ bounceType: z.string(), bouncedRecipients: z.array(Recipient) }),
    }),
    z.object({ eventType: z.literal("Complaint"), complaint: z.object({ complainedRecipients: z.array(Recipient) }) }),
  ]),
});

/** The addresses that are to get no further mail. A full mailbox, or one that is away for a while, is not among them. */
export function addressesIn(event: unknown): string[] {
  const { detail } = Report.parse(event);
  if (detail.eventType === "Complaint") return detail.complaint.complainedRecipients.map(readAddress);
  return detail.bounce.bounceType === "Permanent" ? detail.bounce.bouncedRecipients.map(readAddress) : [];
}

/** Some servers report the name, too. */
const readAddress = ({ emailAddress }: { emailAddress: string }): string =>
  /<([^<>]+)>\s*$/.exec(emailAddress)?.[1] ?? emailAddress.trim();
