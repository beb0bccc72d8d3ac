/**
 * NOTIFY channel on which the uuid of a webhook is told that is to be sent once more, for whoever forwards webhooks beside the dispatcher
 * (`ops listen`). `late:<uuid>`: it was sent by the process that asked, and recorded after it.
 */
export const RESENT = 'webhooks_resent';
