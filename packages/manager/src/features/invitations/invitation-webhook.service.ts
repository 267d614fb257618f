// Announces new invitations to the webhook of the operator, which can send the link by e-mail. The link is only in the
// message: it is neither stored nor logged. A failed call does not matter for the invitation, because the inviter has
// the link.
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log/log.ts'
import type { Reads } from '../../platform/postgres/handles.ts'
import type { OutboundPools } from '../../platform/outbound/pools.ts'
import { SendFailure, send } from '../../platform/outbound/send.ts'
import { signWebhook } from '../../platform/outbound/webhook-signature.ts'
import { buildInvitationMessage } from './invitation-message.pure.ts'
import * as store from './invitations.store.ts'

export type Delivery = 'NONE' | 'DELIVERED' | 'FAILED'
export type InvitationWebhook = {
  /** Sends the link of a new invitation to the webhook. Never throws. */
  announce(invitation: store.Invitation, link: string): Promise<Delivery>
}
export type WebhookDeps = {
  read: Reads
  clock: Clock
  log: Logger
  pools: OutboundPools
  url: string
  secret: string
  timeoutMs: number
}

const maxAttempts = 2
// The body of the response is ignored.
const maxResponseBytes = 16_384

/** The webhook of an installation that has not configured one. */
export const noWebhook: InvitationWebhook = { announce: () => Promise.resolve('NONE') }

export function createInvitationWebhook(deps: WebhookDeps): InvitationWebhook {
  const url = new URL(deps.url)
  /** Sends the message once. Returns null if the receiver accepted it, otherwise the reason. */
  const attempt = async (invitation: store.Invitation, body: Buffer): Promise<string | null> => {
    const timestampSeconds = Math.floor(deps.clock.now().getTime() / 1_000)
    const signature = signWebhook({ id: invitation.id, timestampSeconds, body, token: deps.secret })
    try {
      const { status } = await send({
        pool: deps.pools.getPool(invitation.projectId, url.origin),
        path: url.pathname + url.search,
        method: 'POST',
        headers: [
          'content-type',
          'application/json',
          'webhook-id',
          invitation.id,
          'webhook-timestamp',
          String(timestampSeconds),
          'webhook-signature',
          signature,
        ],
        body,
        timeoutMs: deps.timeoutMs,
        maxResponseBytes,
      })
      return status >= 200 && status < 300 ? null : `the webhook returned ${status}`
    } catch (error) {
      if (error instanceof SendFailure) return error.reason
      throw error
    }
  }

  const deliver = async (invitation: store.Invitation, link: string): Promise<string | null> => {
    const names = await store.findNames(deps.read, invitation.id)
    if (names === undefined) return 'the invitation was deleted'
    const body = buildInvitationMessage(invitation, names, link)
    let failure: string | null = null
    for (let count = 0; count < maxAttempts; count++) {
      failure = await attempt(invitation, body)
      if (failure === null) return null
    }
    return failure
  }

  return {
    announce: async (invitation, link) => {
      try {
        const failure = await deliver(invitation, link)
        if (failure === null) return 'DELIVERED'
        deps.log.warn(
          { invitation: invitation.id, failure },
          'could not deliver an invitation to the webhook',
        )
      } catch (error) {
        deps.log.warn({ invitation: invitation.id, err: error }, 'could not call the invitation webhook')
      }
      return 'FAILED'
    },
  }
}
