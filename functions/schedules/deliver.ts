// Sends what a lane of a webhook has due. Messages of the queue name the lanes.
import * as z from "zod";
import { sendLanes } from "../../shared/operations/events/delivery-queue.ts";
import { runLane } from "../../shared/runtime/deliver.ts";

const Messages = z.object({ Records: z.array(z.object({ body: z.string() })) });
const Lane = z.object({ account_id: z.string(), webhook_id: z.string(), lane: z.number().int() });

export async function handler(event: unknown): Promise<void> {
  for (const { body } of Messages.parse(event).Records) {
    const lane = Lane.parse(JSON.parse(body));
    const { more, again } = await runLane(lane);
    if (more) await sendLanes([lane]);
    else if (again !== undefined) await sendLanes([lane], again);
  }
}
